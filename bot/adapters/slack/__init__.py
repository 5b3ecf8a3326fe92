"""Slack: listeners, actions, messenger, home tab."""
