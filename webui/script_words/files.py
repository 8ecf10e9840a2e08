"""The words of the scripts of the Files screen, and of uploads on any screen."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.script_words.words import ScriptWords, plural


def files() -> ScriptWords:
    return {
        "chosen": _("{count} selected"),
        "fresh": _("Up to date"),
        "still": _("Ferry still isn't responding."),
        "renamed": _("Renamed: {name}"),
        "cut": plural(
            lambda count: ngettext(
                "{count} item cut. Open a folder, and paste it there.",
                "{count} items cut. Open a folder, and paste them there.",
                count,
            )
        ),
        "copy": plural(
            lambda count: ngettext(
                "{count} item copied. Open a folder, and paste it there.",
                "{count} items copied. Open a folder, and paste them there.",
                count,
            )
        ),
        "same": _("These items are in this folder already."),
        "drop": plural(
            lambda count: ngettext(
                "{count} item. Keep this tab open until the upload finishes.",
                "{count} items. Keep this tab open until the upload finishes.",
                count,
            )
        ),
        "folders": plural(lambda count: ngettext("{count} folder", "{count} folders", count)),
        "sum": _("{done} of {total} uploaded"),
        "tab": _("Uploads continue here. The page is open in another tab."),
    }


def receive() -> ScriptWords:
    return {
        "sent": plural(
            lambda count: ngettext(
                "{count} file sent. Thank you.", "{count} files sent. Thank you.", count
            )
        )
    }


def upload() -> ScriptWords:
    return {
        "waiting": _("Waiting"),
        "going": _("Uploading. Keep this tab open."),
        "ending": _("Uploaded. Ferry is saving it."),
        "resuming": _("Interrupted. The upload continues on its own."),
        "arrived": _("Uploaded"),
        "failed": _("Failed"),
        "left": _("{time} left"),
        "of": _("{done} of {total}"),
        "cancel": _("Cancel {name}"),
        "done": _("Uploaded: {count}"),
        "more": _("and {count} more"),
        "cut": _("The connection was lost, and Ferry saved nothing of this file."),
        "strange": _("This page couldn't read Ferry's response."),
        "unsigned": _("You're signed out. Sign in again in another tab, then retry."),
        "large": _("There isn't enough space for this file."),
        "nodirs": _("You can't drop folders here. Drop the files instead."),
    }
