from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from webui.forms import NewPassword, Password, PersonalForm
from webui.models import User


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
