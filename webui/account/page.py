"""The Account screen: what is a person's own."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from webui.signin.devices_page import DevicesPart


@dataclass(frozen=True)
class LanguageChoice:
    """`code` is empty for what the browser asks for, and `lang` then says nothing."""

    code: str
    label: str
    is_chosen: bool


@dataclass(frozen=True)
class AccountPage:
    """What is a person's own. `has_programs`: the password for programs is theirs to change."""

    name: str
    role_label: str
    devices: DevicesPart
    languages: list[LanguageChoice]
    has_programs: bool


def language_choices(spoken: Sequence[tuple[str, str]], chosen: str) -> list[LanguageChoice]:
    by_browser = LanguageChoice("", _("As the browser asks"), is_chosen=not chosen)
    return [
        by_browser,
        *(LanguageChoice(code, label, is_chosen=code == chosen) for code, label in spoken),
    ]
