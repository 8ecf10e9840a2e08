"""The page on which people without an account send files."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.formatting import count_words


@dataclass(frozen=True)
class ReceivingPage:
    title: str
    action: str
    done: str
    error: str


def receiving_page(name: str, action: str, sent: Sequence[str], error: str = "") -> ReceivingPage:
    done = ngettext("%(count)s file sent", "%(count)s files sent", len(sent))
    return ReceivingPage(
        title=_("Send files to “%(name)s”") % {"name": name},
        action=action,
        done=done % {"count": count_words(len(sent))} if sent else "",
        error=error,
    )
