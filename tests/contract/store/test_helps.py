"""The flags that an engine prints come back as they were read, on both databases."""

from bot.adapters.store.database import Database
from bot.adapters.store.helps import SqlHelps
from bot.core.domain.reading import Known, Unknown
from bot.core.facts.engine_help import EngineHelp
from tests.contract.store.records import LATER, NOW

HELP = EngineHelp(flags=frozenset({"--a", "--b"}), choices={"--a": ("x", "y")}, deprecated={"--b": "use --a"})


def test_the_newest_is_kept_for_each_program(database: Database) -> None:
    helps = SqlHelps(database)
    assert helps.get("gpu1", "p") is None
    helps.put("gpu1", "p", "0.1", Unknown("no answer within 25 s"), at=NOW)
    assert helps.get("gpu1", "p") == ("0.1", NOW, Unknown("no answer within 25 s"))
    helps.put("gpu1", "p", "0.2", Known(HELP), at=LATER)
    assert helps.get("gpu1", "p") == ("0.2", LATER, Known(HELP))
    assert helps.get("gpu2", "p") is None
