"""Pictures for the thread: plain functions from numbers to PNG bytes and alt text.

They take a good part of a second of CPU: call them in a worker, never on the event path. 900 x 600 points at twice the
pixels: readable on a phone. The background is opaque and neither white nor black, for light and dark Slack alike; every
colour on it has a contrast of 4.5 or more, and nothing is told by colour alone.
"""
