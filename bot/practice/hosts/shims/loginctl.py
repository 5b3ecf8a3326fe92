"""loginctl of a practice host: one user, lingering."""

import sys

from .view import complain

_USER = {"UID": "1000", "Name": "serve", "Linger": "yes", "State": "lingering", "RuntimePath": "/run/user/1000"}


def main(arguments: list[str]) -> int:
    """Run with these arguments."""
    words = [a for a in arguments if not a.startswith("-")]
    verb = words[0] if words else "list-sessions"
    if verb == "show-user":
        wanted = [a.partition("=")[2] for a in arguments if a.startswith("--property=")]
        wanted += [arguments[i + 1] for i, a in enumerate(arguments[:-1]) if a == "-p"]
        names = [n for w in wanted for n in w.split(",")] or list(_USER)
        for name in names:
            if name in _USER:
                print(_USER[name] if "--value" in arguments else f"{name}={_USER[name]}")
        return 0
    if verb in ("enable-linger", "list-sessions", "list-users", "user-status"):
        return 0
    return complain(f"Unknown command verb {verb}.", 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
