"""What the words of scripts have in common; static/js/words.js reads them."""

from collections.abc import Callable, Mapping

from django.utils.translation import gettext as _

# Each plural category of each language has one of these numbers.
SAMPLES = (0, 1, 2, 3, 5, 11, 100)

ScriptWords = Mapping[str, str | dict[int, str]]


def plural(sentence: Callable[[int], str]) -> dict[int, str]:
    """Return each form of a sentence, by a number that takes this form."""
    forms: dict[str, int] = {}
    for number in SAMPLES:
        forms.setdefault(sentence(number), number)
    return {number: form for form, number in forms.items()}


def time() -> ScriptWords:
    return {
        "seconds": _("{seconds} s"),
        "minutes": _("{minutes} min"),
        "hours": _("{hours} h {minutes} min"),
    }
