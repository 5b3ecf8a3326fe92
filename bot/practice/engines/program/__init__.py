"""The program of the practice engines: standard library only, Python 3.8 or newer, relative imports only."""
