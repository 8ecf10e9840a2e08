"""Rows of a folder, made by filling words into the cached HTML of their shape."""

from dataclasses import replace
from types import SimpleNamespace

from django.template.loader import render_to_string
from django.templatetags.static import static

from tests.cases import each_case
from webui.files.pages.rows import EntryRow
from webui.templatetags.site import FLAGS, WORDS, entry_rows, pieces_of

FULL = EntryRow(**{word: f"<{word}> & 'all'" for word in WORDS} | dict.fromkeys(FLAGS, False))
DIFFERING = [
    {},
    {"is_folder": True},
    {"is_film": True},
    {"thumb_url": "", "extension": "", "added": "", "added_iso": "", "added_title": ""},
    {"stem_parts": ("a<", "b&", "c"), "size_bytes": 0},
    {"stem_parts": ("",), "name": "", "stem": ""},
    {"name": "\0url\0", "stem_parts": ("{{ row.url }}", "\0key\0")},
]


@each_case("template", ["files/_line.html", "files/_tile.html"])
@each_case("is_stale", [False, True])
@each_case("differing", DIFFERING)
def test_a_row_is_what_its_template_makes_of_it(template, is_stale, differing):
    rows = [replace(FULL, **{"stem_parts": ("a", "b"), **differing})]
    rows.append(replace(rows[0], key="another"))
    page = SimpleNamespace(rows=rows, stale=is_stale)
    words = {"page": page, "icons": static("icons.svg")}
    whole = [render_to_string(template, {**words, "row": row}) for row in rows]
    assert entry_rows({"page": page}, template) == "".join(whole)


def test_rows_of_one_shape_share_what_their_template_says():
    page = SimpleNamespace(rows=[replace(FULL, key=str(n)) for n in range(50)], stale=False)
    pieces_of.cache_clear()
    entry_rows({"page": page}, "files/_line.html")
    assert pieces_of.cache_info().misses == 1
