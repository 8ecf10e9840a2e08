"""What went wrong, and what to do now, for every answer that is no page."""

from dataclasses import dataclass

from django.utils.translation import gettext as _


@dataclass(frozen=True)
class Action:
    url: str
    label: str
    is_primary: bool


@dataclass(frozen=True)
class ErrorPage:
    code_label: str
    title: str
    text: str
    art_template: str
    actions: list[Action]


ART = {
    400: "knot",
    403: "barrier",
    404: "jetty",
    405: "knot",
    413: "crate",
    429: "queue",
    502: "gap",
    503: "gap",
}


def error_page(
    status: int, actions: list[Action], *, title: str = "", text: str = "", reference: str = ""
) -> ErrorPage:
    usual_title, usual_text = words_for(status)
    code = _("%(code)s, reference %(reference)s") if reference else "%(code)s"
    return ErrorPage(
        code_label=code % {"code": status, "reference": reference},
        title=title or usual_title,
        text=text or usual_text,
        art_template=f"errors/_art_{ART.get(status, 'boat')}.html",
        actions=actions,
    )


def offline_page(actions: list[Action]) -> ErrorPage:
    return ErrorPage(
        code_label=_("Offline"),
        title=_("Can't reach Ferry"),
        text=_(
            "This device is offline, or not on your home network. Transfers carry on without you."
        ),
        art_template="errors/_art_gap.html",
        actions=actions,
    )


def words_for(status: int) -> tuple[str, str]:
    words = {
        400: (_("That can't be read"), _("Go back, check the address or the form, try again.")),
        403: (_("You can't open this"), _("Your account isn't allowed to see this page.")),
        404: (
            _("That isn't here"),
            _("It may have been renamed or deleted, perhaps on another device."),
        ),
        405: (_("That can't be done this way"), _("Open the page again and use its buttons.")),
        413: (_("That is too large"), _("Send less at once. Nothing was changed.")),
        429: (_("Too many at once"), _("Wait a little, then try again. Nothing was changed.")),
        502: (
            _("The storage service gave no sensible answer"),
            _("Your files and transfers are not affected. Try again in a minute."),
        ),
        503: (
            _("Ferry is busy"),
            _("Your files and transfers are not affected. Try again in a minute."),
        ),
    }
    broken = (
        _("Something broke on our side"),
        _(
            "Your files and transfers are not affected. Try again; if it keeps happening, "
            "tell whoever runs this server, with the reference if one is shown."
        ),
    )
    return words.get(status, broken)
