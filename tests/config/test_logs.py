import logging

from config.logs import Line


def line(message: str, *args: object) -> str:
    record = logging.LogRecord("ferry", logging.INFO, __file__, 1, message, args, None)
    return Line().format(record)


def test_a_line_break_in_a_name_starts_no_line_of_its_own():
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
