from service.torrents.crash_blame import PROOF_SECONDS, CrashSearch

ALL = {"a", "b", "c", "d"}


def test_a_torrent_handled_alone_during_the_crash_is_blamed():
    assert CrashSearch().blame({"a"}, ALL, PROOF_SECONDS) == ("a",)
    assert CrashSearch().blame({"a"}, {"a"}, 0) == ("a",)


def test_a_torrent_handled_with_newcomers_is_held():
    search = CrashSearch()
    assert search.blame({"a"}, ALL, PROOF_SECONDS - 1) == ()
    assert [key for key in sorted(ALL) if search.is_held(key)] == ["a"]


def test_unsuspected_torrents_return_first():
    search = CrashSearch()
    search.blame({"a"}, ALL, 0)
    assert search.release(0, {"a"}, has_others=True) == ()
    assert search.release(PROOF_SECONDS - 1, {"a"}, has_others=True) == ()
    assert search.release(PROOF_SECONDS, {"a"}, has_others=True) == ("a",)


def test_presence_alone_earns_no_strike():
    """Perhaps another process killed the engine."""
    assert CrashSearch().blame(set(), {"a"}, 0) == ()


def test_no_torrent_gets_a_strike_if_several_were_being_handled():
    search = CrashSearch()
    assert search.blame({"a", "b"}, ALL, 0) == ()
    assert search.is_held("a")
    assert search.is_held("b")
    assert not search.is_held("c")


def test_torrents_return_one_by_one_if_none_was_being_handled():
    search = CrashSearch()
    assert search.blame(set(), ALL, 0) == ()
    assert search.release(0, ALL, has_others=False) == ("a",)
    assert search.release(PROOF_SECONDS - 1, ALL, has_others=False) == ()
    assert search.release(PROOF_SECONDS, ALL, has_others=False) == ("b",)
    assert not search.is_held("a")


def test_a_crash_during_its_trial_convicts_it():
    search = CrashSearch()
    search.blame(set(), ALL, 0)
    search.release(0, ALL, has_others=False)
    assert search.blame(set(), {"a"}, 0) == ("a",)


def test_a_blamed_torrent_returns_last():
    search = CrashSearch()
    search.blame(set(), ALL, 0)
    search.release(0, ALL, has_others=False)
    search.blame(set(), {"a"}, 0)
    turns = [search.release(at * PROOF_SECONDS, ALL, has_others=False) for at in range(4)]
    assert turns == [("b",), ("c",), ("d",), ("a",)]


def test_three_strikes_are_enough():
    search = CrashSearch()
    for _ in range(2):
        search.blame({"a"}, ALL, PROOF_SECONDS)
    assert not search.is_struck_out("a")
    search.blame({"a"}, ALL, PROOF_SECONDS)
    assert search.is_struck_out("a")


def test_a_thousand_come_back_in_groups_and_the_culprit_is_found_in_few_crashes():
    search = CrashSearch()
    everybody = {str(number) for number in range(1000)}
    now, crashes = 0.0, 1
    search.blame(set(), everybody, 0)
    while True:
        now += PROOF_SECONDS
        group = search.release(now, everybody, has_others=False)
        if "637" in group:
            crashes += 1
            if search.blame(set(), set(group), 0):
                break
        assert now < 100 * PROOF_SECONDS
    assert crashes <= 5
    assert search.blame({"637"}, everybody, PROOF_SECONDS) == ("637",)


def test_torrents_that_do_not_return_block_no_others():
    search = CrashSearch()
    search.blame(set(), ALL, 0)
    assert search.release(0, {"d"}, has_others=False) == ("d",)


def test_a_removed_torrent_is_forgotten():
    search = CrashSearch()
    for _ in range(3):
        search.blame({"a"}, ALL, PROOF_SECONDS)
    search.forget("a")
    assert not search.is_struck_out("a")
    assert not search.is_held("a")


def test_no_torrent_is_blamed_for_anothers_crash():
    """An unsuspected torrent crashes the engine again and again, while others are in hand."""
    search = CrashSearch()
    there, now, struck = {*ALL, "culprit"}, 0.0, []
    search.blame({"a"}, there, 0.5)
    while not search.is_struck_out("culprit"):
        held = {key for key in there if search.is_held(key)}
        began_at = now
        while "culprit" in held:
            held -= set(search.release(now, held, has_others=held != there))
            now += PROOF_SECONDS
            assert now < 100 * PROOF_SECONDS
        struck += search.blame(set(), there - held, now - began_at)
    assert struck == ["culprit"] * 3
