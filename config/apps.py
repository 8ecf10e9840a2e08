from django.apps import AppConfig


class Ferry(AppConfig):
    """Gives the wiring its management commands: they know both halves."""

    name = "config"
    label = "ferry"
