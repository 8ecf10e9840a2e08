"""The pages of pairing, on both devices."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from webui.people.qr_codes import DeviceAddress
from webui.signin.page import name_and_icon


@dataclass(frozen=True)
class OfferPart:
    addresses: Sequence[DeviceAddress]
    number: str
    state_url: str


@dataclass(frozen=True)
class OutcomePart:
    """What became of an offer. Both fields are empty until a device uses the link."""

    done: str
    over: str


@dataclass(frozen=True)
class AcceptPage:
    title: str
    text: str
    number: str


@dataclass(frozen=True)
class WaitPage:
    code: str
    spelled: str


@dataclass(frozen=True)
class ApprovePage:
    code: str
    refusal: str
    device: str
    address: str


def offer_part(addresses: Sequence[DeviceAddress], number: str, pairing_id: int) -> OfferPart:
    return OfferPart(addresses, number, reverse("account-pair-offered", args=[pairing_id]))


def outcome_part(*, agent: str, is_used: bool, is_over: bool) -> OutcomePart:
    if is_used:
        name, _icon = name_and_icon(agent)
        return OutcomePart(_("%(device)s is signed in") % {"device": name}, "")
    return OutcomePart("", _("This code has expired. Create a new one.") if is_over else "")


def accept_page(person: str, host: str, number: str) -> AcceptPage:
    words = {"person": person, "host": host}
    return AcceptPage(
        _("Sign this device in?"),
        _("It will sign in as %(person)s on %(host)s, without a password.") % words,
        number,
    )


def wait_page(code: str) -> WaitPage:
    half = len(code) // 2
    return WaitPage(f"{code[:half]} {code[half:]}", " ".join(code))


def device_words(agent: str) -> str:
    name, _icon = name_and_icon(agent)
    return name


def approved_words(agent: str) -> str:
    device, _icon = name_and_icon(agent)
    return _("%(device)s will be signed in shortly") % {"device": device}


def approve_page(
    code: str = "", refusal: str = "", agent: str = "", address: str = ""
) -> ApprovePage:
    device, _icon = name_and_icon(agent)
    return ApprovePage(code, refusal, device if address else "", address)
