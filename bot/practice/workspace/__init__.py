"""A stand-in for Slack that speaks its Web API and Socket Mode, and is strict where Slack is strict (DESIGN section 8).

`PracticeWorkspace` runs it in a thread of its own, on 127.0.0.1, and lets tests act as people.
"""

from bot.practice.workspace.workspace import PracticeWorkspace

__all__ = ["PracticeWorkspace"]
