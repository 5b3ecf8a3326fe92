"""One module per probe; each ends in PROBE and judges facts into Findings."""
