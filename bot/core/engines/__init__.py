"""One module per engine; each ends in ENGINE, found by plugins.load."""
