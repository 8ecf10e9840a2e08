"""The forms in which a person says what a link may do, and changes that later."""

from datetime import datetime, timedelta

from django import forms
from django.contrib.auth.hashers import make_password
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from webui.forms import LONGEST_PASSWORD
from webui.models import Share

LIFETIMES = {
    "hour": (timedelta(hours=1), _("1 hour")),
    "day": (timedelta(days=1), _("1 day")),
    "week": (timedelta(days=7), _("1 week")),
    "month": (timedelta(days=30), _("30 days")),
    "never": (None, _("No limit")),
}
LASTS = [(name, words) for name, (_lifetime, words) in LIFETIMES.items()]
SEE, SEND, KEEP = "see", "send", "keep"
PURPOSES = [(SEE, _("See and download")), (SEND, _("Send files"))]
MOST_USES, MOST_GB, USUAL_GB = 10_000, 100_000, 10
GB = 10**9


class TermsForm(forms.Form):
    lasts = forms.ChoiceField(label=_("The link works for"), choices=LASTS, initial="week")
    label = forms.CharField(
        label=_("Title"),
        max_length=60,
        required=False,
        help_text=_("Anyone who opens the link sees it. If you leave it empty, they see the name."),
    )
    password = forms.CharField(
        label=_("Password"),
        max_length=LONGEST_PASSWORD,
        required=False,
        strip=False,
        help_text=_("Leave it empty if the link alone is enough."),
    )
    most_uses = forms.IntegerField(
        label=_("How many times it can be opened"),
        min_value=1,
        max_value=MOST_USES,
        required=False,
        help_text=_("Leave it empty for any number."),
    )
    most_gb = forms.IntegerField(
        label=_("Size limit in GB"),
        min_value=1,
        max_value=MOST_GB,
        initial=USUAL_GB,
        required=False,
    )

    def terms(self, now: datetime, *, takes_files: bool) -> Share:
        """Return a link that has its terms, but isn't saved and opens nothing yet."""
        said = self.cleaned_data
        lifetime, _words = LIFETIMES.get(said["lasts"], (None, ""))
        return Share(
            label=said["label"],
            password=make_password(said["password"]) if said["password"] else "",
            expires_at=now + lifetime if lifetime else None,
            most_uses=said["most_uses"],
            takes_files=takes_files,
            most_bytes=(said["most_gb"] or USUAL_GB) * GB if takes_files else None,
        )


class ShareForm(TermsForm):
    purpose = forms.ChoiceField(label=_("What people can do"), choices=PURPOSES, initial=SEE)


class ChangeForm(TermsForm):
    """The same for a link that exists. Its lifetime begins again only if the person chooses one."""

    lasts = forms.ChoiceField(
        label=_("Lifetime from now"), choices=[(KEEP, _("No change")), *LASTS], initial=KEEP
    )
    without_password = forms.BooleanField(label=_("Remove the password"), required=False)

    def __init__(self, share: Share, data: QueryDict | None = None) -> None:
        gigabytes = (share.most_bytes or 0) // GB
        shown = {"label": share.label, "most_uses": share.most_uses, "most_gb": gigabytes}
        super().__init__(data, initial=shown)
        self.share = share
        if share.password:
            self.fields["password"].help_text = _("Leave it empty to keep the current password.")

    def terms_to_keep(self) -> set[str]:
        said = self.cleaned_data
        keeps = {
            "password": not said["password"] and not said["without_password"],
            "expires_at": said["lasts"] == KEEP,
        }
        return {name for name, is_kept in keeps.items() if is_kept}
