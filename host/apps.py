from django.apps import AppConfig, apps
from django.db.backends.signals import connection_created
from django.db.models.signals import pre_migrate

from host.storage import outage_log


class Ferry(AppConfig):
    """The app that adds the management commands, which use both halves."""

    name = "host"
    label = "ferry"

    def ready(self) -> None:
        from config import wiring  # noqa: PLC0415  They need models, loaded by now.
        from host.storage import database_copies, release  # noqa: PLC0415  They need models.

        connection_created.connect(release.refuse_newer)
        connection_created.connect(outage_log.come_back)
        # Django sends this signal once for each app with models; once per run is enough.
        copy = database_copies.keep_before_migrations
        pre_migrate.connect(copy, apps.get_app_config("service"))
        wiring.wire()
