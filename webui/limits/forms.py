"""The forms for the limits of all transfers, for those of one, and for hours of the schedule."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.dates import WEEKDAYS
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from webui.forms import SettingsForm
from webui.limits.half_hours import PER_DAY, time_of
from webui.words.formatting import separators

MEGABYTE = 10**6
LEAST_SPEED, MOST_SPEED = 0.001, 2_000  # MB/s
TIMES = [(half, time_of(half)) for half in range(PER_DAY + 1)]
SELECT = forms.Select(attrs={"class": "input"})


class Amount(forms.FloatField):
    """A number, with a decimal comma or point. An empty one is None."""

    widget = forms.TextInput(attrs={"inputmode": "decimal"})

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, min_value=0, **options)

    def to_python(self, value: Any) -> Any:
        return super().to_python(value.replace(",", ".") if isinstance(value, str) else value)

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, float):
            return value
        decimal, _thousands = separators(get_language() or "")
        return f"{value:.6f}".rstrip("0").rstrip(".").replace(".", decimal)


class Speed(Amount):
    """A speed in MB/s, of which v1 wants bytes. Without one, there is no limit."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_value=MOST_SPEED, **options)

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value and value < LEAST_SPEED:
            raise ValidationError(_("The slowest speed is 0.001 MB/s."))


class OwnLimitsForm(SettingsForm):
    """The limits of one transfer. Those that are empty are those of all transfers."""

    download_bytes_per_second = Speed(label=_("Download speed, in MB/s"))
    upload_bytes_per_second = Speed(label=_("Upload speed, in MB/s"))
    seed_ratio = Amount(
        label=_("Share ratio"),
        max_value=1000,
        help_text=_(
            "When a torrent is done, Ferry uploads it to others: with 1, as much as it downloaded."
        ),
    )
    seed_minutes = forms.IntegerField(
        label=_("Minutes of seeding"),
        required=False,
        min_value=0,
        max_value=525_600,
        help_text=_(
            "Ferry uploads for this long at most. With 0 here or as the share ratio, it stops "
            "when the torrent is done."
        ),
    )

    @property
    def sent(self) -> dict[str, str]:
        """Return what changed, as v1 wants it. An empty field ends the limit."""
        values = {name: self.cleaned_data[name] for name in self.changed_data}
        return {name: self._text_of(name, value) for name, value in values.items()}

    def _text_of(self, name: str, value: float | None) -> str:
        if value is None:
            return ""
        is_speed = isinstance(self.fields[name], Speed)
        return str(round(value * MEGABYTE) if is_speed else value)


class AllLimitsForm(OwnLimitsForm):
    """The limits of all transfers. Without a speed, there is no limit."""

    active_transfers = forms.IntegerField(
        label=_("Torrents at once"),
        min_value=1,
        max_value=1000,
        help_text=_("Beside them, Ferry fetches as many web addresses. The others wait in order."),
    )
    slow_download_bytes_per_second = Speed(label=_("Slow download speed, in MB/s"))
    slow_upload_bytes_per_second = Speed(label=_("Slow upload speed, in MB/s"))
    field_order = (
        *("download_bytes_per_second", "upload_bytes_per_second"),
        *("slow_download_bytes_per_second", "slow_upload_bytes_per_second"),
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        for name in {"seed_ratio", "seed_minutes"} & self.fields.keys():
            self.fields[name].required = True

    def _text_of(self, name: str, value: float | None) -> str:
        return super()._text_of(name, value or 0)


class Hours(forms.Form):
    """Some hours on some days, and whether slow speeds apply then."""

    day = forms.TypedMultipleChoiceField(
        label=_("Days"),
        choices=list(WEEKDAYS.items()),
        coerce=int,
        error_messages={"required": _("Choose at least one day.")},
    )
    start = forms.TypedChoiceField(label=_("From"), choices=TIMES[:-1], coerce=int, widget=SELECT)
    end = forms.TypedChoiceField(label=_("To"), choices=TIMES[1:], coerce=int, widget=SELECT)

    def __init__(self, sent: QueryDict | None = None) -> None:
        super().__init__(sent, auto_id="hours-%s", initial={"start": 18, "end": 34})

    @property
    def times(self) -> list[forms.BoundField]:
        return [self["start"], self["end"]]

    @property
    def chosen_days(self) -> list[int]:
        return [int(day) for day in self["day"].value() or () if day in set("0123456")]

    def mark(self, schedule: str, mark: str) -> str:
        """Return the schedule with the hours marked. They may end on the next day."""
        start, end = self.cleaned_data["start"], self.cleaned_data["end"]
        end += PER_DAY if end <= start else 0
        halves = list(schedule)
        for day in self.cleaned_data["day"]:
            for half in range(start, end):
                halves[(day * PER_DAY + half) % len(halves)] = mark
        return "".join(halves)
