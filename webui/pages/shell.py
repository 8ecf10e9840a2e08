"""The frame around every page: where one can go, and how it looks."""

from dataclasses import dataclass

from webui.pages.gauge import Gauge

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
class Shell:
    language: str
    direction: str
    theme_choice: str
    nav: list[Destination]
    gauge: Gauge | None

    @property
    def theme(self) -> str:
        """What the page is told outright; a reader who follows the system is told nothing."""
        return "" if self.theme_choice == "system" else self.theme_choice
