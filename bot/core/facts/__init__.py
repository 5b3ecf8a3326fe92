"""One module per fact: a POSIX sh snippet that looks, and a parser; each ends in FACT. Looking never changes anything.

All wanted facts travel to a host as one script (templates/scripts/probe.sh.j2, rendered with `probe_context`) and come
back in frames that `parse_probe` reads. A missing tool, a refusal, a time limit or a frame cut short is Unknown with
its reason, never zero or free.
"""

from bot.core.facts._fact import Fact, HostFacts, ProbeTarget
from bot.core.facts._probe import NOT_ASKED, parse_probe, probe_command, probe_context, probe_limit_s

__all__ = [
    "NOT_ASKED",
    "Fact",
    "HostFacts",
    "ProbeTarget",
    "parse_probe",
    "probe_command",
    "probe_context",
    "probe_limit_s",
]

EVERY_MODULE_IS_A_PLUGIN = True
