"""Log, arguments and facts to a Diagnosis; the rules are data."""
