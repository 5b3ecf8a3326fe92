"""Relaunch: remembers, repeats and proves launches of LLM inference servers.

Layers, outer may import inner only (enforced by import-linter, see pyproject.toml):

    cli | app            argument parsing; the composition root
    adapters | practice  touch the world: Slack, SSH, database, clock, HTTP; the practice workspace
    commands             one module per verb a person can say
    workflows            carry out, durably, through ports
    core                 decides; pure functions of values
    settings | errors | plugins
"""
