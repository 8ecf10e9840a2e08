"""The Account screen: a person's own settings."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from webui.signin.page import DevicesPart


@dataclass(frozen=True)
class LanguageChoice:
    """A language to choose. `code` is empty for the language that the browser requests."""

    code: str
    label: str
    is_chosen: bool


@dataclass(frozen=True)
class AccountPage:
    """A person's own settings. `has_programs`: they may change the password for programs."""

    name: str
    role_label: str
    devices: DevicesPart
    languages: list[LanguageChoice]
    has_programs: bool


def language_choices(spoken: Sequence[tuple[str, str]], chosen: str) -> list[LanguageChoice]:
    by_browser = LanguageChoice("", _("Same as browser"), is_chosen=not chosen)
    return [
        by_browser,
        *(LanguageChoice(code, label, is_chosen=code == chosen) for code, label in spoken),
    ]
