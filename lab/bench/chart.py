"""Draw how many times as fast as its peers Ferry is: an SVG picture with a bar for each ratio."""

from collections.abc import Iterable, Iterator
from math import log10
from xml.sax.saxutils import escape

from lab.bench.harness import Row

LEAST, MOST = 0.1, 1000
LABELS_WIDTH, BARS_WIDTH, VALUES_WIDTH = 400, 360, 70
TOP, ROW_HEIGHT, BAR_HEIGHT = 44, 24, 14
STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.scale { font-size: 11px; fill: #59636e }
line { stroke: #d1d9e0 }
.even { stroke: #59636e; stroke-width: 2 }
.ahead { fill: #1a7f5a }
.behind { fill: #bc4c00 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc }
.scale { fill: #9198a1 }
line { stroke: #3d444d }
.even { stroke: #9198a1 }
.ahead { fill: #3fb27f }
.behind { fill: #f0883e }
}
</style>"""


def chart_of(rows: Iterable[Row]) -> str:
    compared = [row for row in rows if row.relative and row.value]
    width = LABELS_WIDTH + BARS_WIDTH + VALUES_WIDTH
    height = TOP + ROW_HEIGHT * len(compared)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        "<title>How many times as fast as each peer Ferry is, on a logarithmic scale</title>",
        STYLE,
        *scale(height),
    ]
    for number, row in enumerate(compared):
        lines += bar(row, TOP + ROW_HEIGHT * number)
    return "\n".join([*lines, "</svg>"]) + "\n"


def scale(height: int) -> Iterator[str]:
    step = LEAST
    while step <= MOST:
        at, css_class = place_of(step), ' class="even"' if step == 1 else ""
        yield f'<text class="scale" x="{at:.0f}" y="20" text-anchor="middle">{step:,g}×</text>'
        yield f'<line{css_class} x1="{at:.0f}" x2="{at:.0f}" y1="28" y2="{height}"/>'
        step = round(10 * step, 1)


def bar(row: Row, top: int) -> Iterator[str]:
    ratio = row.value if row.relative == "speed" else 1 / row.value
    start, end = sorted((place_of(1), place_of(ratio)))
    css_class, baseline = "ahead" if ratio >= 1 else "behind", top + BAR_HEIGHT - 2
    words = f'x="{LABELS_WIDTH - 12}" y="{baseline}" text-anchor="end"'
    yield f"<text {words}>{escape(row.name)}</text>"
    shape = f'x="{start:.1f}" y="{top}" width="{end - start:.1f}" height="{BAR_HEIGHT}" rx="2"'
    yield f'<rect class="{css_class}" {shape}/>'
    beside = max(end, place_of(1)) + 8
    yield f'<text x="{beside:.0f}" y="{baseline}">{ratio:,.3g}×</text>'


def place_of(ratio: float) -> float:
    share = log10(min(max(ratio, LEAST), MOST) / LEAST) / log10(MOST / LEAST)
    return LABELS_WIDTH + BARS_WIDTH * share
