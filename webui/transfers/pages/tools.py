"""The fields that filter and sort the list of transfers."""

from collections.abc import Iterable, Mapping

from django.utils.translation import gettext as _

from webui.library.entries import ROOT
from webui.transfers.list_options import OTHER_PROGRAMS, ListOptions, person_of
from webui.transfers.states import CachedTransfer

# People oversee fewer transfers without any help.
LEAST = 10

Tools = Mapping[str, object]
Choices = Mapping[str, str]  # the words for each value


def tools_of(
    options: ListOptions,
    transfers: Iterable[CachedTransfer],
    folder_names: Choices,
    *,
    is_own: bool,
) -> Tools:
    """Offer people and folders only if there are several. `folder_names`: by their IDs."""
    people = {person_of(each) for each in transfers}
    fields = {
        "state": (_("State"), state_choices()),
        "folder": (_("Folder"), folder_choices(folder_names)),
        "by": (_("Person"), person_choices(people | {options.by})),
        "sort": (_("Order"), sort_choices(is_own=is_own)),
    }
    return {
        "query": options.q,
        "fields": [
            {"name": name, "label": label, "choices": choices, "chosen": getattr(options, name)}
            for name, (label, choices) in fields.items()
            if len(choices) > 2
        ],
    }


def state_choices() -> Choices:
    return {
        "": _("All states"),
        "running": _("Running"),
        "stalled": _("Stalled"),
        "waiting": _("Waiting"),
        "paused": _("Paused"),
        "failed": _("Failed"),
        "done": _("Done"),
    }


def folder_choices(folder_names: Choices) -> Choices:
    names = {**folder_names, **({ROOT: _("All files")} if ROOT in folder_names else {})}
    by_name = sorted(names.items(), key=lambda item: (item[0] != ROOT, item[1].casefold()))
    return {"": _("All folders"), **dict(by_name)}


def person_choices(people: Iterable[str]) -> Choices:
    names = sorted(filter(None, people), key=str.casefold)
    words = {name: _("Other programs") if name == OTHER_PROGRAMS else name for name in names}
    return {"": _("Everyone"), **words}


def sort_choices(*, is_own: bool) -> Choices:
    return {
        "": _("Queue order") if is_own else _("Running first"),
        "-time": _("Newest first"),
        "time": _("Oldest first"),
        "-size": _("Largest first"),
        "size": _("Smallest first"),
        "-progress": _("Most progress first"),
        "progress": _("Least progress first"),
        "-speed": _("Fastest first"),
    }
