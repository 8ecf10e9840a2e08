"""The bookmarklet, scripts, and tokens that send items to Ferry, as the Account page shows them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from django.utils.translation import gettext as _

from webui.formatting import Calendar

# Runs on any page, so it is small, loads nothing, and contains no token. It collects links and
# opens Ferry with them behind the `#`, where no server sees them and no length limit cuts them off.
BOOKMARKLET = """
(() => {
  const found = new Map();
  let size = 0;
  const take = (link, name) => {
    const key = (/bt[im]h(?::|%3a)(\\w+)/i.exec(link) || [link, link])[1].toLowerCase();
    if (found.has(key) || size > 6e5) return;
    const given = /[?&]dn=./i.test(link) || !name ? link : `${link}&dn=${encodeURIComponent(name)}`;
    found.set(key, given);
    size += given.length;
  };
  for (const a of document.querySelectorAll("a[href],area[href]")) {
    const link = a.getAttribute("href").trim();
    const name = (a.title || a.textContent || "").trim().replace(/\\s+/g, " ").slice(0, 200);
    const isName = !/^(magnet|download|torrent|link)?$/i.test(name);
    if (/^magnet:\\?/i.test(link)) take(link, isName ? name : "");
  }
  const text = document.body ? document.body.innerText || "" : "";
  for (const [link] of text.matchAll(/magnet:\\?[^\\s<>"']+/gi)) take(link, "");
  const list = new URLSearchParams({ popup: 1, from: location.host });
  if (found.size) list.set("text", [...found.values()].join("\\n"));
  else {
    list.set("page", 1);
    list.set("url", location.href.split("#")[0]);
    list.set("title", document.title.slice(0, 200));
  }
  const address = ADDRESS + "#" + list;
  if (!open(address, "_blank", "popup,width=480,height=640")) location.href = address;
})();
"""


@dataclass(frozen=True)
class TokenRow:
    id: int
    name: str
    note: str


@dataclass(frozen=True)
class FromElsewherePanel:
    bookmarklet: str
    handler_url: str
    is_secure: bool
    tokens: list[TokenRow]
    curl_links: str
    curl_file: str


def bookmarklet(add_url: str) -> str:
    """Return the script as the URL of a bookmark, joined into one line."""
    source = " ".join(line.strip() for line in BOOKMARKLET.strip().splitlines())
    source = source.replace("ADDRESS", json.dumps(f"{add_url}?list"))
    return "javascript:" + quote(source, safe="(){}=;,.!'*~")


def from_elsewhere_panel(
    add_url: str, send_url: str, tokens: list[TokenRow], *, is_secure: bool
) -> FromElsewherePanel:
    curl = "curl --header @ferry.token"
    return FromElsewherePanel(
        bookmarklet=bookmarklet(add_url),
        handler_url=f"{add_url}?magnet=%s",
        is_secure=is_secure,
        tokens=tokens,
        curl_links=f"{curl} --data-urlencode 'text=magnet:?xt=…' {send_url}",
        curl_file=f"{curl} --form file=@name.torrent {send_url}",
    )


def token_rows(
    tokens: Iterable[tuple[int, str, datetime, datetime | None]], calendar: Calendar
) -> list[TokenRow]:
    return [
        TokenRow(id_, name, token_words(calendar.words(made_at), calendar.words(used_at)))
        for id_, name, made_at, used_at in tokens
    ]


def token_words(made: str, used: str) -> str:
    if used:
        return _("Made: %(made)s. Last used: %(used)s") % {"made": made, "used": used}
    return _("Made: %(made)s. Never used") % {"made": made}
