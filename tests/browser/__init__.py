"""The practice page in headless Chromium."""
