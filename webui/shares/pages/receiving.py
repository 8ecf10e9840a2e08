"""The page on which people without an account send files."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.words.formatting import count_words


@dataclass(frozen=True)
class ReceivingPage:
    title: str
    action: str
    done: str
    sent: Sequence[str]
    error: str


def receiving_page(name: str, action: str, sent: Sequence[str], error: str = "") -> ReceivingPage:
    count = len(sent)
    done = ngettext("{count} file sent. Thank you.", "{count} files sent. Thank you.", count)
    return ReceivingPage(
        title=_("Send files to “%(name)s”") % {"name": name},
        action=action,
        done=done.format(count=count_words(count)) if sent else "",
        sent=sent,
        error=error,
    )
