"""The forms of the Server screen: to connect a service, and to change settings."""

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from common.addresses.reachable import Reach
from webui.forms import Password, SettingsForm
from webui.v1.network.address import DEFAULT_PORTS, Address

MOST_GB = 1_000_000
MOST_DAYS = 3650
MOST_NAMES = 20
LONGEST_HOST = 253
LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
HOST_NAME = re.compile(rf"{LABEL}(?:\.{LABEL})*|\[[0-9a-f:.]+\]")


class Connect(forms.Form):
    """An account at another service. The form never sends the typed password back."""

    url = forms.CharField(
        label=_("Address"),
        max_length=500,
        help_text=_("For example, https://storage.example.org"),
    )
    email = forms.EmailField(label=_("Email address"), max_length=254)
    password = Password(
        label=_("Password"),
        is_new=False,
        help_text=_("Your credentials for that service. Ferry stores them encrypted."),
    )

    def __init__(self, own_hosts: Iterable[str], sent: QueryDict | None = None) -> None:
        super().__init__(sent, auto_id="connection-%s")
        self._own_hosts = {host.lower() for host in own_hosts}

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        if "://" not in url:
            url = f"https://{url}"
        if "@" in url:
            raise ValidationError(_("Remove the name and password from the address."))
        try:
            address = Address(url)
        except ValueError:
            text = _("Enter an address such as https://storage.example.org")
            raise ValidationError(text) from None
        # Allow services at home, but no addresses that only routers and clouds use internally.
        if not Reach(may_use_private=True).may_contact(address.origin[1].strip("[]")):
            raise ValidationError(_("Ferry isn't allowed to connect to this address."))
        scheme, host, port = address.origin
        if {f"{host}:{port}", host if port == DEFAULT_PORTS[scheme] else ""} & self._own_hosts:
            text = _("This is Ferry's own address. Enter the address of another service.")
            raise ValidationError(text)
        return address.base_url

    def clean(self) -> dict[str, Any]:
        """Clear an address that may contain a password, so that the form doesn't show it again."""
        if "@" in self.data.get("url", ""):
            self.data = {**self.data, "url": ""}
        return super().clean() or {}


class StorageSettings(SettingsForm):
    space_gb = forms.IntegerField(label=_("Space for files, in GB"), min_value=1, max_value=MOST_GB)
    deleted_days = forms.IntegerField(
        label=_("Days for which deleted items can be restored"),
        min_value=0,
        max_value=MOST_DAYS,
        help_text=_(
            "With fewer days, Ferry deletes older items for good. With 0, you can only undo a "
            "deletion for some seconds."
        ),
    )


class ServerNames(SettingsForm):
    server_name = forms.CharField(
        label=_("Name of this server"),
        max_length=30,
        required=False,
        help_text=_("At the top of every page, also of the sign-in page."),
    )
    host_names = forms.CharField(
        label=_("More names in addresses"),
        max_length=2000,
        required=False,
        help_text=_(
            "Names that a proxy or your network has for this server, such as "
            "ferry.example.org, with commas between."
        ),
    )

    def clean_host_names(self) -> str:
        names = list(dict.fromkeys(map(host_name_of, words_of(self.cleaned_data["host_names"]))))
        if len(names) > MOST_NAMES:
            raise ValidationError(_("Enter at most %(count)s names.") % {"count": MOST_NAMES})
        here = self.initial["here"]
        if here in words_of(self.initial["host_names"]) and here not in names:
            text = _("You opened this page at %(name)s. To remove this name, use another address.")
            raise ValidationError(text % {"name": here})
        return ", ".join(names)


def words_of(typed: str) -> list[str]:
    return re.findall(r"[^\s,]+", typed.lower())


def host_name_of(typed: str) -> str:
    """Return the name in what a person typed, which may be a whole address."""
    try:
        host = urlsplit(typed if "://" in typed else f"//{typed}").hostname or ""
    except ValueError:
        host = ""
    host = f"[{host}]" if ":" in host else host.removesuffix(".")
    if "@" in typed or len(host) > LONGEST_HOST or HOST_NAME.fullmatch(host) is None:
        text = _("“%(name)s” isn't a host name. Enter names such as ferry.example.org")
        raise ValidationError(text % {"name": typed})
    return host
