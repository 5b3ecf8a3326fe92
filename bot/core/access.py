"""Who may do what, as a pure function. It is asked at the moment of doing, not when a sentence arrives."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.core.domain.operation import Actor, Permission

#: prefix of actors in the terminal: they hold the bot's keys and database already
TERMINAL = "cli:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Gives a permission to users and user groups, perhaps only in some channels and for some hosts. By id."""

    permission: Permission
    #: Slack user ids
    users: frozenset[str] = frozenset()
    #: Slack user group ids (S…)
    groups: frozenset[str] = frozenset()
    #: everyone in the workspace
    everyone: bool = False
    #: Slack channel ids; empty: everywhere, direct messages included
    channels: frozenset[str] = frozenset()
    #: host names; empty: all hosts
    hosts: frozenset[str] = frozenset()
    #: host names that it does not count for: they have a list of their own
    except_hosts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPolicy:
    """Grants add up: the highest that applies counts; where none does, the default."""

    grants: tuple[Grant, ...] = ()
    #: members of the workspace without a grant
    default: Permission = Permission.READ
    #: host name -> default there, in place of `default` ("payroll" -> NOTHING)
    host_defaults: Mapping[str, Permission] = field(default_factory=dict)

    @property
    def groups(self) -> frozenset[str]:
        """Every user group whose members must be known."""
        return frozenset(group for grant in self.grants for group in grant.groups)


def permission(actor: Actor, policy: AccessPolicy, channel: str | None, host: str | None) -> Permission:
    """What the actor may do in this channel to this host (None: no particular one).

    A grant for certain hosts counts as READ where no host is named. A grant for certain channels counts only there.
    """
    if actor.id.startswith(TERMINAL):
        return Permission.ADMINISTER
    if actor.outsider or not actor.id:
        return Permission.NOTHING
    granted = [_granted(grant, host) for grant in policy.grants if _holds(grant, actor, channel, host)]
    default = policy.default if host is None else policy.host_defaults.get(host, policy.default)
    return max([default, *granted])


def _holds(grant: Grant, actor: Actor, channel: str | None, host: str | None) -> bool:
    person = grant.everyone or actor.id in grant.users or not grant.groups.isdisjoint(actor.groups)
    place = not grant.channels or channel in grant.channels
    there = (not grant.hosts or host is None or host in grant.hosts) and host not in grant.except_hosts
    return person and place and there


def _granted(grant: Grant, host: str | None) -> Permission:
    return min(grant.permission, Permission.READ) if grant.hosts and host is None else grant.permission
