"""The form to connect a service."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from common.reachable_addresses import Reach
from webui.forms import Password
from webui.v1.address import DEFAULT_PORTS, Address


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
            raise ValidationError(
                _("Enter an address such as https://storage.example.org")
            ) from None
        if not is_allowed(address):
            raise ValidationError(_("Ferry isn't allowed to connect to this address."))
        scheme, host, port = address.origin
        if {f"{host}:{port}", host if port == DEFAULT_PORTS[scheme] else ""} & self._own_hosts:
            raise ValidationError(
                _("This is Ferry's own address. Enter the address of another service.")
            )
        return address.base_url

    def clean(self) -> dict[str, Any]:
        """Clear an address that may contain a password, so that the form doesn't show it again."""
        if "@" in self.data.get("url", ""):
            self.data = {**self.data, "url": ""}
        return super().clean() or {}


def is_allowed(address: Address) -> bool:
    """Allow services at home, but not addresses that only routers and clouds use internally."""
    return Reach(may_use_private=True).may_contact(address.origin[1].strip("[]"))
