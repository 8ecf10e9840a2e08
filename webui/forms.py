"""Forms for signing in, passwords, and the connection to a service."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib.auth import password_validation
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from webui.connection.address_policy import address_of
from webui.models import User
from webui.v1.address import DEFAULT_PORTS, Address

# Long enough for any passphrase. Without a limit, strangers could make Ferry hash megabytes.
LONGEST_PASSWORD = 1024


class Password(forms.CharField):
    def __init__(self, *, is_new: bool, **options: Any) -> None:
        fill = "new-password" if is_new else "current-password"
        widget = forms.PasswordInput(attrs={"autocomplete": fill})
        super().__init__(strip=False, max_length=LONGEST_PASSWORD, widget=widget, **options)


class SignIn(forms.Form):
    username = forms.CharField(label=_("Name"), max_length=150)
    password = Password(label=_("Password"), is_new=False)


class NewPassword(forms.Form):
    """A new password, typed twice and checked against the password rules."""

    password = Password(
        label=_("Password"), is_new=True, help_text=_("At least 8 characters, not a common word.")
    )
    password_again = Password(label=_("Password again"), is_new=True)

    def person(self) -> User:
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        fields = super().clean() or {}
        password, again = fields.get("password"), fields.get("password_again")
        if password and again and password != again:
            self.add_error("password_again", _("The two passwords are not the same."))
        elif password:
            self._hold_against_rules(password)
        return fields

    def _hold_against_rules(self, password: str) -> None:
        try:
            password_validation.validate_password(password, self.person())
        except ValidationError as refused:
            self.add_error("password", refused)


class Join(NewPassword):
    """The form by which the first owner or an invited person joins."""

    username = forms.CharField(label=_("Name"), max_length=150)
    field_order = ("username", "password", "password_again")

    def person(self) -> User:
        return User(username=self.cleaned_data.get("username", ""))

    def clean_username(self) -> str:
        username = str(User.normalize_username(self.cleaned_data["username"]))
        User._meta.get_field("username").clean(username, None)  # noqa: SLF001  Django's own API.
        if User.objects.filter(username__iexact=username).exists():
            raise ValidationError(_("Somebody has this name already."))
        return username


class Connect(forms.Form):
    """An account at another service. The form never sends the typed password back."""

    url = forms.CharField(
        label=_("Address"),
        max_length=500,
        help_text=_("Such as https://storage.example.org"),
    )
    email = forms.EmailField(label=_("E-mail address"), max_length=254)
    password = Password(
        label=_("Password"),
        is_new=False,
        help_text=_("Your own credentials, for that service only. Ferry keeps them sealed."),
    )

    def __init__(self, own_hosts: Iterable[str], sent: QueryDict | None = None) -> None:
        super().__init__(sent, auto_id="connection-%s")
        self._own_hosts = {host.lower() for host in own_hosts}

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        if "://" not in url:
            url = f"https://{url}"
        if "@" in url:
            raise ValidationError(_("Leave name and password out of the address."))
        try:
            address = Address(url)
        except ValueError:
            raise ValidationError(
                _("Give an address such as https://storage.example.org")
            ) from None
        if not is_allowed(address):
            raise ValidationError(_("This address is not allowed: no service can be there."))
        scheme, host, port = address.origin
        if {f"{host}:{port}", host if port == DEFAULT_PORTS[scheme] else ""} & self._own_hosts:
            raise ValidationError(_("This is Ferry's own address. It is connected to itself."))
        return address.base_url

    def clean(self) -> dict[str, Any]:
        """Clear an address that may contain a password, so that the form doesn't show it again."""
        if "@" in self.data.get("url", ""):
            self.data = {**self.data, "url": ""}
        return super().clean() or {}


def is_allowed(address: Address) -> bool:
    """Allow services at home, but not addresses that only routers and clouds use internally."""
    ip = address_of(address.origin[1].strip("[]"))
    return ip is None or not (ip.is_unspecified or ip.is_multicast or ip.is_link_local)


class CurrentPassword(forms.Form):
    """Proof that the person of this session is still the one using it."""

    current_password = Password(label=_("Password"), is_new=False)

    def __init__(self, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user

    def clean_current_password(self) -> str:
        password: str = self.cleaned_data["current_password"]
        if not self.user.check_password(password):
            raise ValidationError(
                _("That isn't your password. Enter the one you sign in with."), code="wrong"
            )
        return password


class ChangePassword(NewPassword):
    old_password = Password(label=_("Current password"), is_new=False)
    password = Password(
        label=_("New password"),
        is_new=True,
        help_text=_("At least 8 characters, not a common word."),
    )
    password_again = Password(label=_("New password again"), is_new=True)
    field_order = ("old_password", "password", "password_again")

    def __init__(self, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user

    def person(self) -> User:
        return self.user

    def clean_old_password(self) -> str:
        password: str = self.cleaned_data["old_password"]
        if not self.user.check_password(password):
            raise ValidationError(_("That is not your current password."), code="wrong")
        return password
