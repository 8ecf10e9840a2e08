import json
import logging
import unicodedata
from contextvars import Context

import pytest

from host.logs import CutConnections, JSONFormatter, LineFormatter


def line(message: str, *args: object) -> str:
    record = logging.LogRecord("ferry", logging.INFO, __file__, 1, message, args, None)
    return LineFormatter().format(record)


def test_a_line_break_in_a_name_starts_no_new_line():
    written = line("wrong name=%s", "bob\n2026-01-01T00:00:00Z INFO ferry.signin signed in")
    assert "\n" not in written
    assert "\\n2026" in written


def test_a_one_time_token_in_a_path_is_masked():
    token = "k" * 43
    written = line("refused path=%s", f"/welcome/{token}/")
    assert token not in written
    assert "/welcome/…/" in written


def test_values_in_a_query_are_masked():
    written = line("refused path=%s", "/add?magnet=magnet:secret&text=private")
    assert "secret" not in written
    assert "private" not in written
    assert "/add?magnet=" in written


def test_direction_tricks_are_spelled_out():
    assert "\u202e" not in line("name=%s", "a\u202egpj.exe")


def test_no_control_character_of_any_kind_reaches_a_terminal():
    kinds = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    every = [chr(code) for code in range(0x10FFFF) if unicodedata.category(chr(code)) in kinds]
    # Format characters of some scripts and of musical notation, which don't move the cursor.
    shown = {*map(chr, range(0x600, 0x606)), *"\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"}
    shown |= {*map(chr, range(0x13430, 0x13440)), *map(chr, range(0x1BCA0, 0x1BCA4))}
    shown |= set(map(chr, range(0x1D173, 0x1D17B)))
    written = line("name=%s", "".join(every))
    assert set(every) & set(written) <= shown
    assert "\\x9b" in line("name=%s", "\x9b31m")


def record_of(error: Exception) -> logging.LogRecord:
    facts = (type(error), error, None)
    return logging.LogRecord("gunicorn.error", logging.ERROR, __file__, 1, "Oh", (), facts)


def test_a_cut_connection_is_one_short_line():
    record = record_of(BlockingIOError(11, "Resource temporarily unavailable"))
    assert CutConnections().filter(record)
    assert (
        LineFormatter()
        .format(record)
        .endswith("INFO gunicorn.error connection cut: BlockingIOError")
    )


@pytest.fixture
def _only_warnings():
    ours = logging.getLogger("ferry")
    before = ours.level
    ours.setLevel(logging.WARNING)
    yield
    ours.setLevel(before)


@pytest.mark.usefixtures("_only_warnings")
def test_a_cut_connection_is_not_logged_at_level_warning():
    assert not CutConnections().filter(record_of(TimeoutError("timed out")))


def test_an_error_of_our_own_keeps_its_traceback():
    record = record_of(ValueError("ours"))
    assert CutConnections().filter(record)
    assert "ValueError: ours" in LineFormatter().format(record)


def written_as_json(message: str, *args: object, error: Exception | None = None) -> dict:
    facts = (type(error), error, None) if error else None
    record = logging.LogRecord("ferry.x", logging.INFO, __file__, 1, message, args, facts)
    # Another test may have begun a request in this thread.
    line = Context().run(JSONFormatter().format, record)
    assert "\n" not in line
    return json.loads(line)


def test_json_is_one_object_per_line_with_the_same_words():
    facts = written_as_json('name="%s" path=%s', "bob\nalice\u202e", f"/welcome/{'k' * 43}/?a=b")
    assert facts.pop("time").endswith("+00:00")
    assert facts == {
        "level": "INFO",
        "logger": "ferry.x",
        "message": 'name="bob\\nalice\\u202e" path=/welcome/…/?a=…',
    }


def test_json_keeps_the_lines_of_a_traceback_and_masks_them():
    error = ValueError(f"no such page: /welcome/{'k' * 43}/")
    facts = written_as_json("oh", error=error)
    assert facts["exception"].splitlines()[-1] == "ValueError: no such page: /welcome/…/"
