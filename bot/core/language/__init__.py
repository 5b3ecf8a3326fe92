"""Text and vocabulary to a Command. Deterministic; never guesses with something dangerous."""
