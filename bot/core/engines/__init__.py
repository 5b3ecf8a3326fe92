"""One module per engine, ending in ENGINE: its flags, readiness, log lines, metrics and memory. Pure.

Modules with an underscore hold what they share and their flag tables. No other layer names an engine in an `if`.
"""

EVERY_MODULE_IS_A_PLUGIN = True
