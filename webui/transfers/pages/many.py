"""What is asked and said about transfers that people act on, one or several at once."""

from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.transfers.groups import Groups
from webui.transfers.list_options import ListOptions
from webui.transfers.pages.transfers import Excerpt
from webui.transfers.states import CachedTransfer
from webui.v1.errors import Failure
from webui.v1.own_records import TransferAction
from webui.words import formatting
from webui.words.failures import message_of
from webui.words.formatting import name_parts
from webui.words.joining import sentences

MOST_LISTED = 100


def cancel_page(
    chosen: Sequence[CachedTransfer], options: ListOptions, spared: list[str] | None
) -> dict[str, object]:
    """Describe what would be lost. `spared`: None unless all that match are selected."""
    count = len(chosen)
    title = ngettext("Cancel %(count)s transfer?", "Cancel %(count)s transfers?", count)
    button = ngettext("Cancel %(count)s transfer", "Cancel %(count)s transfers", count)
    return {
        "title": fill_count(title, count),
        "text": loss_words(chosen),
        "button": fill_count(button, count),
        "items": [
            (name_parts(each.name or _("Unnamed")), formatting.size_words(each.size_bytes or None))
            for each in chosen[:MOST_LISTED]
        ],
        "more": formatting.more_words(count - MOST_LISTED),
        "entries": [each.key for each in chosen] if spared is None else [],
        "spared": spared,
        "tail": options.tail,
        "back_url": Excerpt(Groups(), options).url,
    }


def loss_words(chosen: Sequence[CachedTransfer]) -> str:
    if not chosen:
        return _("Someone else has already removed these transfers.")
    lost_bytes = sum(each.done_bytes for each in chosen if not each.is_ended)
    words = _("Ferry hasn't downloaded any of them yet.")
    if lost_bytes:
        words = _("Ferry will delete the %(size)s downloaded so far.")
        words %= {"size": formatting.size_words(lost_bytes)}
    has_ended = any(each.is_ended for each in chosen)
    stay = _("Files that already arrived stay in your files.")
    return sentences([words, stay] if has_ended else [words])


def fill_count(words: str, count: int) -> str:
    return words % {"count": formatting.count_words(count)}


def changed_words(act: TransferAction, count: int) -> str:
    if not count:
        return _("Nothing changed.")
    words: dict[TransferAction, str] = {
        "pause": ngettext("Transfer paused", "%(count)s transfers paused", count),
        "resume": ngettext("Transfer continues", "%(count)s transfers continue", count),
        "first": _("Moved to the top of the queue"),
        "up": _("Moved up in the queue"),
        "down": _("Moved down in the queue"),
        "last": _("Moved to the bottom of the queue"),
        "before": _("Moved in the queue"),
    }
    return fill_count(words[act], count)


def removed_words(transfers: Sequence[CachedTransfer]) -> str:
    count = len(transfers)
    if not all(each.is_ended for each in transfers):
        return canceled_words(count)
    return fill_count(ngettext("Removed", "%(count)s transfers removed", count), count)


def canceled_words(count: int) -> str:
    return fill_count(ngettext("Transfer canceled", "%(count)s transfers canceled", count), count)


def restored_words(count: int) -> str:
    return fill_count(ngettext("Transfer restored", "%(count)s transfers restored", count), count)


def restarted_words(count: int, total: int, failure: Failure | None) -> str:
    """Describe how many were sent again, of how many, before the service failed."""
    if not count:
        return _("Nothing changed.")
    if failure is None:
        words = ngettext("Transfer restarted", "%(count)s transfers restarted", count)
        return fill_count(words, count)
    numbers = {"count": formatting.count_words(count), "all": formatting.count_words(total)}
    stopped = _("Ferry restarted %(count)s of %(all)s, then stopped.") % numbers
    return sentences([stopped, f"{message_of(failure).title}."])
