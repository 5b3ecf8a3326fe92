"""One planner per operation: values in, a Plan or a Refusal out. Nothing here runs or reads anything.

plan_start, plan_restart    revision + overrides + readings + checks -> Plan | Refusal
plan_stop                   what runs + readings -> Plan | Refusal
derived_revision            the revision that a start with overrides launches
gpus_taken, gpu_choice      the GPUs of a launch, and how it chooses them
probe_target                what to look at on a host before planning
changed_since               what a plan relied on that is no longer so
held_back                   what keeps a start that waits from its GPUs
"""

from bot.core.planning.relied_on import changed_since, relied_on
from bot.core.planning.revision import derived_revision, probe_target
from bot.core.planning.runner import choose_runner
from bot.core.planning.situation import Check, Running, Situation, gpu_choice, gpus_taken
from bot.core.planning.start import StartRequest, held_back, plan_restart, plan_start, unit_name
from bot.core.planning.stop import plan_stop

__all__ = [
    "Check",
    "Running",
    "Situation",
    "StartRequest",
    "changed_since",
    "choose_runner",
    "derived_revision",
    "gpu_choice",
    "gpus_taken",
    "held_back",
    "plan_restart",
    "plan_start",
    "plan_stop",
    "probe_target",
    "relied_on",
    "unit_name",
]
