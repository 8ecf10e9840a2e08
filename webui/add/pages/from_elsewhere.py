"""The bookmarklet and scripts that send items to Ferry, as the Account page shows them."""

from dataclasses import dataclass

from webui.add.bookmarklet import bookmarklet


@dataclass(frozen=True)
class FromElsewherePanel:
    bookmarklet: str
    handler_url: str
    is_secure: bool
    curl: str  # two commands


def from_elsewhere_panel(add_url: str, send_url: str, *, is_secure: bool) -> FromElsewherePanel:
    curl = "curl --header @ferry.token"
    return FromElsewherePanel(
        bookmarklet=bookmarklet(add_url),
        handler_url=f"{add_url}?magnet=%s",
        is_secure=is_secure,
        curl=f"{curl} --data-urlencode 'text=magnet:?xt=…' {send_url}\n"
        f"{curl} --form file=@name.torrent {send_url}",
    )
