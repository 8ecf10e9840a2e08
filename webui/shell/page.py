"""The frame around every page: navigation and appearance."""

from dataclasses import dataclass

from webui.storage_meter import Gauge

THEMES = ("system", "light", "dark")


@dataclass(frozen=True)
class Destination:
    name: str
    label: str
    url: str
    icon: str
    key: str
    is_current: bool


@dataclass(frozen=True)
class Shell:
    language: str
    direction: str
    theme_choice: str
    nav: tuple[Destination, ...] = ()
    running: int = 0
    gauge: Gauge | None = None
    warning: str = ""
    person: str = ""
    server_name: str = ""
    is_https: bool = False
    is_visit: bool = False  # by a link, whose page has nothing of the site around it

    @property
    def theme(self) -> str:
        """Return the theme that the page sets, or an empty string to follow the system."""
        return "" if self.theme_choice == "system" else self.theme_choice
