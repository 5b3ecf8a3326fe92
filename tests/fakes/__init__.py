"""Fakes of our own ports, one module per port."""
