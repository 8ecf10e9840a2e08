"""The frame around every page: where one can go, and how it looks."""

from dataclasses import dataclass

from webui.health import Finding
from webui.pages.gauge import Gauge
from webui.pages.health import finding_words

THEMES = ("system", "light", "dark")


@dataclass(frozen=True)
class Destination:
    name: str
    label: str
    url: str
    icon: str
    key: str
    is_current: bool
    count: int = 0


@dataclass(frozen=True)
class Notice:
    """Something that the owner has to decide about."""

    title: str
    text: str


def warning_of(found: Finding | None) -> Notice | None:
    return Notice(*finding_words(found)) if found else None


@dataclass(frozen=True)
class Shell:
    language: str
    direction: str
    theme_choice: str
    nav: list[Destination]
    gauge: Gauge | None
    warning: Notice | None = None

    @property
    def theme(self) -> str:
        """What the page is told outright; a reader who follows the system is told nothing."""
        return "" if self.theme_choice == "system" else self.theme_choice
