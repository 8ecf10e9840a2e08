from django.apps import AppConfig
from django.db.backends.signals import connection_created

from config import outages


class Ferry(AppConfig):
    """Gives the wiring its management commands: they know both halves."""

    name = "config"
    label = "ferry"

    def ready(self) -> None:
        from config import recording, release  # noqa: PLC0415  They need models, loaded by now.

        connection_created.connect(release.refuse_newer)
        connection_created.connect(outages.come_back)
        recording.start()
