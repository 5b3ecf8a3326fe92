"""One module per preflight check, ending in CHECK: findings with evidence and remedy. Read-only and pure.

Estimates warn and never refuse. What could not be looked at is unknown, never ok.
"""

EVERY_MODULE_IS_A_PLUGIN = True
