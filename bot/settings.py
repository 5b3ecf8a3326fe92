"""Settings: the environment (RELAUNCH_…) over relaunch.toml over defaults. All faults at once; secrets hidden."""

import os
import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from pydantic_settings import SettingsError as SettingsFileError

from bot.errors import SettingsError


def _person(value: str) -> str:
    if value != "*" and not re.fullmatch(r"[UWS][A-Z0-9]+", value):
        raise ValueError(f'{value!r} is no id: give a user (U…), a user group (S…), or "*" for every full member')
    return value


#: Slack user id (U…, W…), user group id (S…), or "*" for every full member
Person = Annotated[str, AfterValidator(_person)]


class HostAccess(BaseModel):
    """Who may do what on one host. A list that is given takes the place of the general one of that level."""

    model_config = ConfigDict(extra="forbid")
    readers: list[Person] | None = None
    operators: list[Person] | None = None
    approvers: list[Person] | None = None


class Access(BaseModel):
    """Who may do what. Each level may do what those below it may: administrators, approvers, operators, readers."""

    model_config = ConfigDict(extra="forbid")
    administrators: list[Person] = Field(default_factory=list)
    approvers: list[Person] = Field(default_factory=list)
    operators: list[Person] = Field(default_factory=list)
    readers: list[Person] = Field(default_factory=lambda: ["*"])
    #: channel ids in which operators and approvers are heard as such; empty: everywhere the bot is
    channels: list[str] = Field(default_factory=list)
    #: whether the person who asked may also approve
    approve_own: bool = False
    hosts: dict[str, HostAccess] = Field(default_factory=dict)


class Settings(BaseSettings):
    """Everything that can be set. `load()` is the way to make one."""

    model_config = SettingsConfigDict(
        env_prefix="RELAUNCH_", env_nested_delimiter="__", toml_file="relaunch.toml", extra="forbid"
    )

    slack_bot_token: SecretStr | None = Field(default=None, description="xoxb-…")
    slack_app_token: SecretStr | None = Field(default=None, description="xapp-…, for Socket Mode")
    slack_signing_secret: SecretStr | None = Field(default=None, description="for `relaunch web`")
    slack_team_id: str | None = Field(default=None, description="only people of this workspace (T…) are heard")
    slack_api_url: str = "https://slack.com/api/"
    data_dir: Path = Field(default=Path("relaunch-data"), description="database, host keys, locks")
    database_url: SecretStr | None = Field(
        default=None, description="PostgreSQL URL; default: a SQLite file in data_dir"
    )
    ssh_config: Path | None = Field(default=Path("~/.ssh/config"))
    ssh_known_hosts: Path | None = Field(default=Path("~/.ssh/known_hosts"), description="read only")
    ssh_connect_timeout_s: float = Field(default=10.0, gt=0)
    approval_minutes: float = Field(default=15.0, gt=0, le=24 * 60)
    wait_hours: float = Field(default=24.0, gt=0, le=24 * 14, description="longest wait of a start for its GPUs")
    ready_timeout_minutes: float = Field(default=60.0, gt=0)
    time_zone: str = "UTC"
    measure_concurrency: list[Annotated[int, Field(ge=1, le=1024)]] = Field(
        default_factory=lambda: [1, 8], min_length=1, max_length=8
    )
    measure_output_tokens: int = Field(default=256, ge=16, le=8192)
    measure_level_s: float = Field(default=30.0, gt=0, description="longest time for one concurrency")
    web_host: str = "127.0.0.1"
    web_port: int = Field(default=8080, ge=0, le=65535)
    log_format: Literal["json", "console"] = "console"
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    access: Access = Field(default_factory=Access)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments win over the environment, the environment over relaunch.toml."""
        return (init_settings, env_settings, TomlConfigSettingsSource(settings_cls))

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ValueError, KeyError, OSError) as error:
            raise ValueError("no such time zone; use a name such as Europe/Berlin") from error
        return value

    @field_validator("slack_bot_token", "slack_app_token")
    @classmethod
    def _token_kind(cls, value: SecretStr | None, info: object) -> SecretStr | None:
        prefix = "xoxb-" if getattr(info, "field_name", "") == "slack_bot_token" else "xapp-"
        if value is not None and not value.get_secret_value().startswith(prefix):
            raise ValueError(f"must start with {prefix}")
        return value

    @property
    def main_database(self) -> str:
        """URL of our tables."""
        return self._url("relaunch.db")

    @property
    def durable_database(self) -> str:
        """URL of the durable runs: the same PostgreSQL (schema dbos), or a second SQLite file."""
        return self._url("relaunch-durable.db")

    @property
    def approval_lifetime(self) -> timedelta:
        """How long an approval card may be decided."""
        return timedelta(minutes=self.approval_minutes)

    @property
    def wait_lifetime(self) -> timedelta:
        """How long a start waits for its GPUs."""
        return timedelta(hours=self.wait_hours)

    def _url(self, file: str) -> str:
        if self.database_url is not None and not self.database_url.get_secret_value().startswith("sqlite"):
            return self.database_url.get_secret_value()
        if self.database_url is not None:
            path = Path(self.database_url.get_secret_value().removeprefix("sqlite:///")).expanduser().absolute()
            return f"sqlite:///{path if file == 'relaunch.db' else path.with_name(path.stem + '-durable.db')}"
        return f"sqlite:///{self.data_dir.expanduser().absolute() / file}"


def load(**overrides: object) -> Settings:
    """Settings from everywhere. Raises SettingsError with every fault."""
    file = Path("relaunch.toml")
    if file.exists() and not file.is_file():
        raise SettingsError(["relaunch.toml: is no file"])
    try:
        return Settings(**overrides)  # type: ignore[arg-type]  # pydantic checks the values
    except ValidationError as error:
        raise SettingsError([_fault(one["loc"], one["msg"]) for one in error.errors()]) from None
    except SettingsFileError as error:
        # of the environment: a list or table that is no JSON
        field = next(iter(re.findall(r'"(\w+)"', str(error))), "?")
        raise SettingsError([f"RELAUNCH_{field.upper()}: lists and tables are written as JSON, this is none"]) from None
    except (ValueError, OSError) as error:
        raise SettingsError([f"relaunch.toml cannot be read: {error}"]) from None


def _fault(place: tuple[int | str, ...], said: str) -> str:
    """One fault of pydantic's in words: the setting, its variable, what is wrong with it."""
    if not place:
        return f"relaunch.toml: {said}"
    name = ".".join(str(part) for part in place)
    said = said.removeprefix("Value error, ")
    if said == "Extra inputs are not permitted":
        return f"{name}: there is no such setting; docs/settings.md lists them"
    top = str(place[0])
    return f"{name} ({'RELAUNCH_' + top.upper()}): {said[:1].lower()}{said[1:]}"


#: read by single commands or by the tests
_OTHER_VARIABLES = ("RELAUNCH_BENCH_API_KEY", "RELAUNCH_REQUIRE_REAL")


def unknown_variables() -> tuple[str, ...]:
    """Variables of the environment that look like settings and are none: a letter wrong, and the default counts."""
    known = {f"RELAUNCH_{name.upper()}" for name in Settings.model_fields}
    return tuple(
        name
        for name in sorted(os.environ)
        if name.startswith("RELAUNCH_")
        and name.partition("__")[0] not in known
        and name not in _OTHER_VARIABLES
        and not name.startswith("RELAUNCH_TEST_")
    )
