"""Check names of files and folders, and explain at the field why a name is refused."""

import re
import unicodedata

from django.utils.translation import gettext as _

from webui.v1.errors import Conflict, Failure, Rejected

LONGEST_NAME = 255
NEVER_IN_A_NAME = re.compile(r"[/\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def find_name_error(name: str) -> str:
    """Return why the service would refuse the name, or an empty string."""
    if not name.strip():
        return describe_name_error("name_empty")
    if max(len(name), len(unicodedata.normalize("NFC", name))) > LONGEST_NAME:
        return describe_name_error("name_too_long")
    if name in (".", "..") or NEVER_IN_A_NAME.search(name):
        return describe_name_error("name_not_allowed")
    return ""


def refusal(failure: Conflict | Rejected) -> str:
    """Put the service's refusal into words for the field."""
    if isinstance(failure, Conflict):
        return describe_name_error("name_taken")
    return describe_name_error(failure.reason) or said(failure)


def said(failure: Failure) -> str:
    if said := failure.message or failure.said:
        words = said if " " in said else said.replace("_", " ")
        return _("The storage service says: “%(words)s”") % {"words": words}
    return _("The storage service refuses this name. Try another.")


def describe_name_error(reason: str) -> str:
    words = {
        "name_empty": _("Enter a name."),
        "name_too_long": _("A name has at most 255 characters."),
        "name_not_allowed": _("A name can't be “.” or “..”, and holds no “/” and no line break."),
        "name_taken": _("Something here has this name already."),
        "name_already_taken": _("Something here has this name already."),
        "too_deep": _("This folder is too deep inside others to make one more in it."),
        "root_folder": _("All files can't be renamed."),
        "disk_full": _("The disk of the storage service is full. Try again later."),
    }
    return words.get(reason, "")
