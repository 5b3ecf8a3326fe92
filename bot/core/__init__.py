"""Decisions. No I/O, no clock, no environment, no threads, no randomness: values in, values out.

Facts about hosts arrive as text that shell snippets printed; the parsers here turn it into values.
Nothing in this package may import paramiko, slack_*, sqlalchemy, httpx, os, subprocess or time.
"""
