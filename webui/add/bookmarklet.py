"""The bookmarklet, which sends the magnet links of any page to Ferry."""

import json
from urllib.parse import quote

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


def bookmarklet(add_url: str) -> str:
    """Return the script as the URL of a bookmark, joined into one line."""
    source = " ".join(line.strip() for line in BOOKMARKLET.strip().splitlines())
    source = source.replace("ADDRESS", json.dumps(f"{add_url}?list"))
    return "javascript:" + quote(source, safe="(){}=;,.!'*~")
