"""The documents as pages for any browser or web server, with the tree of the repository."""

import re
import shutil
from html import escape
from itertools import pairwise
from os.path import relpath
from pathlib import Path
from string import Template

from markdown_it import MarkdownIt

BASE = Path(__file__).resolve().parents[1]
OTHERS = ("LICENSE", "compose.cluster.yaml")
NAVIGATION = re.compile(r"^\| \[(.+)\]\((.+?\.md)\) \|", re.MULTILINE)
PARSER = MarkdownIt("commonmark").enable("table")
PAGE = Template("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<link rel="stylesheet" href="$style">
</head>
<body>
<nav>
$navigation
</nav>
<main>
$content
</main>
</body>
</html>
""")


def write_site(folder: Path) -> None:
    others = [BASE / name for name in OTHERS]
    for path in filter(Path.is_file, (*BASE.glob("*.md"), *BASE.glob("docs/**/*"), *others)):
        target = folder / address_of(str(path.relative_to(BASE)))
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            target.write_text(page_of(path))
        else:
            shutil.copyfile(path, target)
    shutil.copyfile(BASE / "release/site.css", folder / "style.css")


def address_of(link: str) -> str:
    """Return where a link to a document leads on the site; other links stay as they are."""
    if "://" in link:
        return link
    return re.sub(r"\.md(?=#|$)", ".html", re.sub(r"(^|/)README\.md", r"\1index.md", link))


def page_of(path: Path) -> str:
    tokens = PARSER.parse(path.read_text())
    for token, following in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor_of(following.content))
        for part in token.children or ():
            if part.type == "link_open":
                part.attrSet("href", address_of(str(part.attrs["href"])))
    return PAGE.substitute(
        title=escape(next(each.content for each in tokens if each.type == "inline")),
        style=link_between(path, "style.css"),
        navigation="\n".join(
            f'<a href="{link_between(path, address_of(target))}">{escape(name)}</a>'
            for name, target in navigation()
        ),
        content=PARSER.renderer.render(tokens, PARSER.options, {}),
    )


def anchor_of(title: str) -> str:
    """Return the address of a heading within its page, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def link_between(page: Path, target: str) -> str:
    return relpath(BASE / target, page.parent)


def navigation() -> list[tuple[str, str]]:
    """Return the names and paths of the pages to which README leads."""
    return [("Ferry", "README.md"), *NAVIGATION.findall((BASE / "README.md").read_text())]
