"""The page of an error: what went wrong, and what to do now."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from webui.words.failures import status_words


@dataclass(frozen=True)
class Action:
    url: str
    label: str
    is_primary: bool


@dataclass(frozen=True)
class ErrorPage:
    title: str
    text: str
    art_template: str
    actions: list[Action]
    reference: str = ""  # names the entry in the log


ART = {
    400: "knot",
    403: "barrier",
    404: "jetty",
    405: "knot",
    409: "knot",
    413: "crate",
    422: "knot",
    429: "queue",
    502: "gap",
    503: "gap",
}


def error_page(
    status: int, actions: list[Action], *, title: str = "", text: str = "", reference: str = ""
) -> ErrorPage:
    usual_title, usual_text = status_words(status)
    return ErrorPage(
        title=title or usual_title,
        text=text or usual_text,
        art_template=f"errors/_art_{ART.get(status, 'boat')}.html",
        actions=actions,
        reference=_("Reference: %(reference)s") % {"reference": reference} if reference else "",
    )


def offline_page(actions: list[Action]) -> ErrorPage:
    text = _(
        "This device is offline or not on your home network, or Ferry isn't running. This "
        "page continues on its own as soon as Ferry responds."
    )
    return error_page(503, actions, title=_("Can't reach Ferry"), text=text)


def unwritable_page(actions: list[Action]) -> ErrorPage:
    text = _(
        "The disk is full or can't be written to. This doesn't affect your files. "
        "Ask the administrator of this server to free some space, then try again."
    )
    return error_page(503, actions, title=_("Ferry can't write to its disk"), text=text)


def database_page(actions: list[Action]) -> ErrorPage:
    text = _(
        "This doesn't affect your files. Try again in a minute. If this keeps "
        "happening, tell the administrator of this server: Ferry's log shows the "
        "cause."
    )
    return error_page(503, actions, title=_("Ferry can't reach its database"), text=text)
