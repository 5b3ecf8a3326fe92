"""Text and vocabulary to a Command. Deterministic; never guesses with something dangerous.

`understand` runs: normalise (Slack's escapes, hidden characters) -> tokens -> spelling -> clauses -> speech acts ->
slots -> intent -> resolution against the catalog. Words of the grammar are data in `lexicon`.
"""
