import pytest
from django.conf import settings
from django.core.files.storage import FileSystemStorage

from host.static_files.storage import HashedModules

SCRIPT = "// Why\n/**\n * Why\n */\nlet a = 'http://a'; // a\n\n  // and so\n  let b = 1;\n"
SHEET = '@import "a.css";\n@import "b.css";\n'


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source" / "css"
    folder.mkdir(parents=True)
    (folder / "app.css").write_text(SHEET)
    (folder / "a.css").write_text("@layer base { a { color: red } }\n")
    (folder / "b.css").write_text("@layer base { b { color: blue } }\n")
    (tmp_path / "source" / "js").mkdir()
    (tmp_path / "source" / "js" / "a.js").write_text(SCRIPT)
    return folder


@pytest.fixture
def collected(tmp_path, source):
    """Return a function that copies new files and then processes all, as collectstatic does."""
    storage = HashedModules(location=tmp_path / "static", base_url="/static/")
    origin = FileSystemStorage(source.parent)

    def collect():
        names = ["css/a.css", "css/b.css", "css/app.css", "js/a.js"]
        for name in names:
            if not storage.exists(name):
                with origin.open(name) as file:
                    storage.save(name, file)
        for _name, _hashed, problem in storage.post_process(
            {each: (origin, each) for each in names}
        ):
            assert problem in (True, False)
        return storage

    return collect


def sheet(storage) -> str:
    with storage.open(storage.stored_name("css/app.css")) as file:
        return file.read().decode()


def test_a_sheet_holds_what_it_imports_in_order(collected, source):
    sources = [(source / name).read_text().strip() for name in ("a.css", "b.css")]
    assert sheet(collected()) == "".join(sources)


def test_a_sheet_follows_what_it_imports_when_it_is_collected_again(collected, source):
    before = collected().url("css/app.css")
    (source / "b.css").write_text("@layer base { b { color: green } }\n")
    again = collected()
    assert "green" in sheet(again)
    assert again.url("css/app.css") != before


def test_a_sheet_is_sent_without_its_comments_and_indentation(collected, source):
    written = "@layer base {\n  /* Why\n     so */\n  b,\n  i {\n    color: blue;\n  }\n}\n"
    (source / "b.css").write_text(written)
    assert sheet(collected()).endswith("@layer base {b,i {color: blue;}}")


def test_a_line_end_between_two_selectors_or_values_stays_a_space(collected, source):
    (source / "b.css").write_text("b\n  i {\n  margin: 1px\n    2px;\n}\n")
    assert sheet(collected()).endswith("b i {margin: 1px 2px;}")


def test_a_script_is_sent_without_indentation_and_the_lines_of_its_comments(collected):
    storage = collected()
    with storage.open(storage.stored_name("js/a.js")) as file:
        assert file.read().decode() == "let a = 'http://a'; // a\nlet b = 1;\n"


def test_no_script_has_a_string_of_several_lines():
    for path in (settings.BASE_DIR / "static/js").rglob("*.js"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            assert line.startswith("//") or line.count("`") % 2 == 0, f"{path.name}:{number}"
