"""One module per fact: shell snippet and parser; each ends in FACT."""
