"""Practice hosts: real SSH servers on loopback whose shell finds practice versions of the tools of a GPU host.

Commands run under the machine's own /bin/sh with the home, PATH and account of the practice host. Linux only.
"""

from bot.practice.hosts.host import PracticeHost

__all__ = ["PracticeHost"]
