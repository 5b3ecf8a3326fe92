"""Every error that Relaunch raises on purpose.

RelaunchError
├── PermanentError            trying again changes nothing: say it, and what to do
│   ├── RefusedError          a rule of ours says no (permission, protected host, stale approval)
│   ├── HostKeyError          unknown or changed host key
│   ├── AuthenticationError   the host knows no key of ours
│   ├── SettingsError         settings, all faults at once
│   └── BadInputError         a file, argument or catalog that cannot be read
└── TemporaryError            trying again may help; `retry_after_s` says when
    ├── UnreachableError      no connection to a host
    ├── CommandTimeoutError   a remote command ran past its limit; keeps the partial output
    └── RateLimitedError      Slack said 429

Each message says what happened, on which host, and what to do next. It may be shown to people: it carries no secrets.
"""


class RelaunchError(Exception):
    """Base of all. `remedy` is the next step for a person, one sentence."""

    def __init__(self, message: str, *, remedy: str = "", host: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.host = host


class PermanentError(RelaunchError):
    """Trying again changes nothing."""


class RefusedError(PermanentError):
    """A rule of ours says no."""


class HostKeyError(PermanentError):
    """The host's key is unknown or is not the pinned one."""

    def __init__(
        self, message: str, *, remedy: str = "", host: str | None = None, fingerprint: str = "", changed: bool = False
    ) -> None:
        super().__init__(message, remedy=remedy, host=host)
        self.fingerprint = fingerprint
        self.changed = changed


class AuthenticationError(PermanentError):
    """The host accepts none of our keys."""


class SettingsError(PermanentError):
    """Settings cannot be used; `faults` lists every one."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("settings: " + "; ".join(faults), remedy="fix the settings listed and run `relaunch check`")
        self.faults = faults


class BadInputError(PermanentError):
    """A file, argument or catalog cannot be read."""


class TemporaryError(RelaunchError):
    """Trying again may help."""

    def __init__(
        self, message: str, *, remedy: str = "", host: str | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message, remedy=remedy, host=host)
        self.retry_after_s = retry_after_s


class UnreachableError(TemporaryError):
    """No connection to a host."""


class CommandTimeoutError(TemporaryError):
    """A remote command ran past its time limit."""

    def __init__(
        self, message: str, *, remedy: str = "", host: str | None = None, stdout: str = "", stderr: str = ""
    ) -> None:
        super().__init__(message, remedy=remedy, host=host)
        self.stdout = stdout
        self.stderr = stderr


class RateLimitedError(TemporaryError):
    """The other side asked us to slow down."""
