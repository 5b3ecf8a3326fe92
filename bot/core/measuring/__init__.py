"""Statistics, baselines and verdicts about measured speed."""
