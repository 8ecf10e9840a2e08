from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from webui.connection.connection import Service
from webui.forms import NewPassword, Password, PersonalForm
from webui.library import paths
from webui.library.bounds import Bounds
from webui.models import Role, Token, User
from webui.tokens import tokens
from webui.tokens.tokens import LONGEST_NAME, MOST_TOKENS, Purpose


class ChangePassword(PersonalForm, NewPassword):
    old_password = Password(label=_("Current password"), is_new=False)
    password = Password(
        label=_("New password"),
        is_new=True,
        help_text=_("Use at least 8 characters, and avoid common words."),
    )
    password_again = Password(label=_("Repeat new password"), is_new=True)
    field_order = ("old_password", "password", "password_again")

    def person(self) -> User:
        return self.user

    def clean_old_password(self) -> str:
        password: str = self.cleaned_data["old_password"]
        if not self.user.check_password(password):
            raise ValidationError(_("This isn't your current password."), code="wrong")
        return password


class TokenForm(PersonalForm):
    """What a new token is for. `service` has the folder to which it may be limited."""

    name = forms.CharField(
        label=_("Name of the new token"),
        max_length=LONGEST_NAME,
        help_text=_(
            "For example, the computer that will use it. Changing your password doesn't revoke "
            "tokens. Revoke them here."
        ),
        error_messages={"required": _("Enter a name, so that you can recognize this token later.")},
    )
    purpose = forms.ChoiceField(label=_("What it's for"), initial=Purpose.DRIVE, required=False)
    read_only = forms.BooleanField(label=_("Only read"), required=False)
    folder = forms.CharField(
        label=_("Only this folder"),
        max_length=1_000,
        required=False,
        help_text=_("For example, Films/2024. Leave it empty for all files."),
    )

    def __init__(self, user: User, service: Service | None, *args: Any, **options: Any) -> None:
        super().__init__(user, *args, auto_id="token-%s", **options)
        self.service = service
        role = Role(user.role)
        self.may_write = role.includes(Role.MEMBER)
        purposes = [each for each in Purpose if tokens.may_do(role, each, writes=False)]
        self.fields["purpose"].choices = [(each.value, each.label) for each in purposes]  # type: ignore[attr-defined]

    def clean_name(self) -> str:
        name = " ".join(str(self.cleaned_data["name"]).split())
        own = Token.objects.filter(user=self.user)
        if own.filter(name=name).exists():
            raise ValidationError(_("You already have a token with this name."))
        if own.count() >= MOST_TOKENS:
            words = _("You already have %(count)s tokens. Revoke one that you don't need.")
            raise ValidationError(words, params={"count": MOST_TOKENS})
        return name

    def clean_purpose(self) -> Purpose:
        """Return what allows least if a form doesn't say."""
        return Purpose(self.cleaned_data["purpose"] or Purpose.SEND)

    def clean_folder(self) -> Bounds | None:
        """Return what the token is limited to. The folder must exist."""
        names = paths.names_of(self.cleaned_data["folder"])
        if not names or self.service is None:
            return None
        folder = paths.find_folder(self.service, names, timezone.now())
        if folder is None:
            raise ValidationError(_("Ferry can't find this folder. Check the path."))
        return Bounds(folder.folder, folder.name)

    def clean(self) -> dict[str, Any]:
        """Refuse a token with which a guest could do nothing."""
        cleaned = super().clean() or {}
        purpose = cleaned.get("purpose", Purpose.SEND)
        if not tokens.may_do(Role(self.user.role), purpose, writes=False):
            self.add_error("purpose", _("Your account can't do this."))
        return cleaned

    def create(self, now: datetime) -> str:
        cleaned = self.cleaned_data
        return tokens.create(
            self.user,
            cleaned["name"],
            now,
            cleaned["purpose"],
            may_write=self.may_write and not cleaned["read_only"],
            service=self.service.key if self.service else "",
            bounds=cleaned["folder"],
        )
