"""The sentence of a notice, which a phone's lock screen shows."""

from django.utils.translation import gettext as _


def notice_words(kind: str, subject: str) -> str:
    match kind:
        case "done":
            return _("%(name)s is in your files") % {"name": subject}
        case "failed":
            return _("%(name)s failed") % {"name": subject}
        case "space":
            return _("Ferry is running out of space for files.")
        case "device":
            return _("A new device signed in to your account from %(address)s.") % {
                "address": subject
            }
        case _unknown:
            return _("Notifications from Ferry arrive here.")
