"""Conversations in a terminal (`relaunch say`): channels whose name begins with "cli:"."""
