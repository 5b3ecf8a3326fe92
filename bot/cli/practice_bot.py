"""The real bot beside a running practice, in this process, with the practice's tokens, hosts and people."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from bot.app import App, set_up_logging
from bot.cli.texts import read_yaml
from bot.core.catalog.files import catalog_from_yaml_data
from bot.practice.run import Practice
from bot.settings import Settings, load


def practice_settings(
    practice: Practice,
    *,
    measure_level_s: float,
    measure_output_tokens: int,
    measure_concurrency: Sequence[int] = (1, 4),
    log_level: str = "WARNING",
) -> Settings:
    """Settings of the bot for a practice: short measurements, and nothing of the person's own SSH set-up."""
    return load(
        slack_bot_token=practice.bot_token,
        slack_app_token=practice.app_token,
        slack_team_id=practice.team_id,
        slack_api_url=practice.slack_api_url,
        data_dir=practice.data_dir / "bot",
        database_url=None,
        ssh_config=practice.ssh_config_file,
        ssh_known_hosts=practice.known_hosts_file,
        measure_concurrency=list(measure_concurrency),
        measure_output_tokens=measure_output_tokens,
        measure_level_s=measure_level_s,
        log_level=log_level,
        access=practice.access(),
    )


@contextmanager
def practice_bot(
    practice: Practice,
    *,
    measure_level_s: float = 8.0,
    measure_output_tokens: int = 128,
    measure_concurrency: Sequence[int] = (1, 4),
    log_level: str = "WARNING",
) -> Iterator[App]:
    """The bot, listening; its catalog is the practice's."""
    settings = practice_settings(
        practice,
        measure_level_s=measure_level_s,
        measure_output_tokens=measure_output_tokens,
        measure_concurrency=measure_concurrency,
        log_level=log_level,
    )
    set_up_logging(settings)
    app = App(settings)
    try:
        app.database.migrate()
        slack = app.slack()
        services = app.open(slack=slack.messenger)
        catalog, inventory = catalog_from_yaml_data(read_yaml(practice.catalog_file))
        for host in inventory.hosts.values():
            services.hosts.save(host)
        for config in catalog.configs.values():
            services.catalog.save(config)
        slack.listen(app.inbox())
        yield app
    finally:
        app.close()
