"""Ways to run a server on a host: one module each, ending in `RUNNER: Runner = …`."""
