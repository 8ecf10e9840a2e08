"""The form in which a person says what a link may do."""

from datetime import timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from webui.forms import LONGEST_PASSWORD
from webui.shares.terms import Terms

LIFETIMES = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
    "never": None,
}
LASTS = [
    ("hour", _("1 hour")),
    ("day", _("1 day")),
    ("week", _("1 week")),
    ("month", _("30 days")),
    ("never", _("No limit")),
]
SEE, SEND = "see", "send"
PURPOSES = [(SEE, _("See and download")), (SEND, _("Send files"))]
MOST_USES, MOST_GB, USUAL_GB = 10_000, 100_000, 10
GB = 10**9


class ShareForm(forms.Form):
    purpose = forms.ChoiceField(label=_("What people can do"), choices=PURPOSES, initial=SEE)
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

    def terms(self) -> Terms:
        said: dict[str, Any] = self.cleaned_data
        takes_files = said["purpose"] == SEND
        return Terms(
            label=said["label"],
            password=said["password"],
            lasts=LIFETIMES[said["lasts"]],
            most_uses=said["most_uses"],
            takes_files=takes_files,
            most_bytes=(said["most_gb"] or USUAL_GB) * GB if takes_files else None,
        )
