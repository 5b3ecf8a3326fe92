"""One module per verb; each ends in COMMAND, found by plugins.load."""
