"""Joined modules do what they did as single files: Node runs both."""

import re
import subprocess

from django.conf import settings

from host.static_files.modules import EXPORT, IMPORT, Modules, at
from tests.tools import program

SOURCES = {
    "js/base.js": """import "./a.js";
import { log, twice } from "./b.js";
log.push(`base ${twice(2)}`);
""",
    "js/a.js": """import { log, twice as double } from "./b.js";
const own = double(1);
log.push(`a ${own}`);
""",
    "js/b.js": """export const log = [];
export const twice = (number) => number * 2;
log.push("b");
""",
    "js/x/page.js": """import "../a.js";
import * as b from "../b.js";
import { own } from "./only.js";
import { near } from "./near.js";
import {
  both,
} from "./both.js";
b.log.push(`page ${own()} ${both} ${near}`);
await import("./later.js");
console.log(b.log.join(", "));
""",
    "js/x/only.js": """import { log, twice } from "../b.js";
import { both } from "./both.js";
import { near } from "./near.js";
const value = twice(4);
log.push(`only ${both} ${near}`);
export function own() {
  return value;
}
""",
    "js/x/near.js": """import { log } from "../b.js";
export const near = "near";
log.push(near);
""",
    "js/x/both.js": """import { log } from "../b.js";
export const both = "both";
log.push(both);
""",
    "js/x/later.js": """import { log } from "../b.js";
import { both } from "./both.js";
log.push(`later ${both}`);
""",
}


def run(folder, sources) -> str:
    (folder / "package.json").parent.mkdir(parents=True)
    (folder / "package.json").write_text('{"type": "module"}')
    for name, text in sources.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    pages = 'import "./js/base.js"; import "./js/x/page.js";'
    (folder / "run.js").write_text(pages)
    command = [program("node"), folder / "run.js"]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()


def test_joined_modules_run_once_each_and_share_what_they_keep(tmp_path):
    joined = dict(Modules(SOURCES).texts())
    assert run(tmp_path / "single", SOURCES) == run(tmp_path / "joined", joined)
    assert run(tmp_path / "again", joined) == (
        "b, a 2, base 4, both, near, only both near, page 8 both near, later both"
    )


def test_the_base_takes_in_what_it_needs_and_others_what_no_other_file_does():
    joined = dict(Modules(SOURCES).texts())
    assert set(joined) == {"js/base.js", "js/x/page.js", "js/x/both.js", "js/x/later.js"}
    assert IMPORT.findall(joined["js/base.js"]) == []


def test_every_script_of_ferry_still_finds_its_modules():
    static = settings.BASE_DIR / "static"
    sources = {
        str(path.relative_to(static)): path.read_text() for path in (static / "js").rglob("*.js")
    }
    for name, text in sources.items():
        assert len(re.findall("^import ", text, re.MULTILINE)) == len(IMPORT.findall(text)), name
        assert len(re.findall("^export ", text, re.MULTILINE)) == len(EXPORT.findall(text)), name
    joined = dict(Modules(sources).texts())
    assert len(joined) < len(sources) - 20
    for name, text in joined.items():
        assert {at(name, path) for _what, path in IMPORT.findall(text)} <= set(joined), name
