"""The Web API methods, a module per family; each ends in METHODS."""

from bot.practice.workspace.calls import Methods
from bot.practice.workspace.methods import chat, conversations, files, people, streams, views

ALL = Methods()
for _family in (chat, conversations, files, people, streams, views):
    ALL.entries.update(_family.METHODS.entries)
