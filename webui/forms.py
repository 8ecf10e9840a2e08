"""Forms with passwords or settings that several subjects use."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from django import forms
from django.contrib.auth import password_validation
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from webui.models import User

PERSON_NAME = pgettext_lazy("of a person", "Name")
# Long enough for any passphrase. Without a limit, strangers could make Ferry hash megabytes.
LONGEST_PASSWORD = 1024


class Password(forms.CharField):
    def __init__(self, *, is_new: bool, **options: Any) -> None:
        fill = "new-password" if is_new else "current-password"
        widget = forms.PasswordInput(attrs={"autocomplete": fill})
        super().__init__(strip=False, max_length=LONGEST_PASSWORD, widget=widget, **options)


class SignIn(forms.Form):
    username = forms.CharField(label=PERSON_NAME, max_length=150)
    password = Password(label=_("Password"), is_new=False)


class NewPassword(forms.Form):
    """A new password, typed twice and checked against the password rules."""

    password = Password(
        label=_("Password"),
        is_new=True,
        help_text=_("Use at least 8 characters, and avoid common words."),
    )
    password_again = Password(label=_("Repeat password"), is_new=True)

    def person(self) -> User:
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        fields = super().clean() or {}
        password, again = fields.get("password"), fields.get("password_again")
        if password and again and password != again:
            self.add_error("password_again", _("The passwords don't match."))
        elif password:
            try:
                password_validation.validate_password(password, self.person())
            except ValidationError as refused:
                self.add_error("password", refused)
        return fields


class Join(NewPassword):
    """The form by which the first owner or an invited person joins."""

    username = forms.CharField(label=PERSON_NAME, max_length=150)
    field_order = ("username", "password", "password_again")

    def person(self) -> User:
        return User(username=self.cleaned_data.get("username", ""))

    def clean_username(self) -> str:
        username = str(User.normalize_username(self.cleaned_data["username"]))
        User._meta.get_field("username").clean(username, None)  # noqa: SLF001  Django's own API.
        if User.objects.filter(username__iexact=username).exists():
            raise ValidationError(_("Someone already has this name."))
        return username


class PersonalForm(forms.Form):
    """A form that is checked against the signed-in person."""

    def __init__(self, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user


class CurrentPassword(PersonalForm):
    """Proof that the person of this session is still the one using it."""

    current_password = Password(label=_("Password"), is_new=False)

    def clean_current_password(self) -> str:
        password: str = self.cleaned_data["current_password"]
        if not self.user.check_password(password):
            raise ValidationError(
                _("This isn't your password. Enter the one you sign in with."), code="wrong"
            )
        return password


class FixedSetting(NamedTuple):
    """What the environment decides in place of a field."""

    label: str | Promise | None
    value: str
    text: str


class SettingsForm(forms.Form):
    """Settings as people change them, without fields that the environment decides."""

    def __init__(
        self, initial: dict[str, Any], left_out: Iterable[str], sent: QueryDict | None = None
    ) -> None:
        super().__init__(sent, initial=initial, auto_id="setting-%s")
        for name in left_out:
            self.fields.pop(name, None)

    def describe_fixed(self, field: str, setting: str, value: str) -> FixedSetting | None:
        """Return what decides in place of a field that was left out."""
        if field in self.fields:
            return None
        text = gettext(
            "The setting %(name)s decides this. To change it here, remove it and restart Ferry."
        )
        return FixedSetting(self.base_fields[field].label, value, text % {"name": setting})
