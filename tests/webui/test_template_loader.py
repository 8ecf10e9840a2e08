import re
from pathlib import Path

import pytest
from django.conf import settings

from tests.cases import each_case
from webui.template_loader import without_layout

TEMPLATES = sorted((Path(settings.BASE_DIR) / "templates").rglob("*.html"))
MOST_CHARACTERS = 120
CODE = re.compile(r"{%.*?%}|{{.*?}}")
OPENED = re.compile("<[a-z]")


@each_case(
    ("source", "sent"),
    [
        ("<p>\n  <b>a</b>\n  <i>b</i>\n</p>\n", "<p><b>a</b><i>b</i></p>"),
        ("<p>\n  one\n  two\n</p>", "<p>one two</p>"),
        ("<p><b>a</b> <i>b</i>, c</p>", "<p><b>a</b> <i>b</i>, c</p>"),
        ('<a class="x"\n  href="y">z</a>', '<a class="x" href="y">z</a>'),
        ('<a\n  {% if x > 1 %}href="y"{% endif %}>', '<a {% if x > 1 %}href="y"{% endif %}>'),
        (
            '<a title="{% translate "a > b" %}"\n  id="x">',
            '<a title="{% translate "a > b" %}" id="x">',
        ),
        ("{% if x %}\n  {{ y }}\n{% endif %}\n", "{% if x %}{{ y }}{% endif %}"),
        ("{{ x }}\n{{ y }} {{ z }}", "{{ x }}{{ y }} {{ z }}"),
        ("1 < 2\nand", "1 < 2 and"),
        ("<textarea>\n{{ x }}</textarea>\n<p>", "<textarea>\n{{ x }}</textarea><p>"),
        (
            "{% blocktranslate trimmed %}\n  a\n  {{ b }}\n{% endblocktranslate %}\n<p>",
            "{% blocktranslate trimmed %}\n  a\n  {{ b }}\n{% endblocktranslate %}<p>",
        ),
    ],
)
def test_a_line_break_sends_a_space_only_between_words_and_in_tags(source, sent):
    assert without_layout(source) == sent


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_lines_are_short_and_hold_one_element_with_at_most_one_in_it(path):
    lines = path.read_text().splitlines()
    assert not [line for line in lines if len(line) > MOST_CHARACTERS]
    assert not [line for line in lines if len(OPENED.findall(CODE.sub("", line))) > 2]
