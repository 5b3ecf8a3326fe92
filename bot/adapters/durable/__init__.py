"""Durable operations on DBOS, behind the ports in workflows/ports.py."""
