from service.torrents.crash_blame import PROOF_SECONDS, CrashSearch

ALL = {"a", "b", "c", "d"}


def test_one_that_was_alone_in_hand_is_the_culprit_among_those_that_are_free():
    assert CrashSearch().crashed({"a"}, ALL, PROOF_SECONDS) == ("a",)
    assert CrashSearch().crashed({"a"}, {"a"}, 0) == ("a",)


def test_one_that_was_in_hand_among_others_that_just_came_is_held():
    trial = CrashSearch()
    assert trial.crashed({"a"}, ALL, PROOF_SECONDS - 1) == ()
    assert [key for key in sorted(ALL) if trial.is_held(key)] == ["a"]


def test_those_that_nobody_suspects_come_back_first():
    trial = CrashSearch()
    trial.crashed({"a"}, ALL, 0)
    assert trial.released(0, {"a"}, has_others=True) == ()
    assert trial.released(PROOF_SECONDS - 1, {"a"}, has_others=True) == ()
    assert trial.released(PROOF_SECONDS, {"a"}, has_others=True) == ("a",)


def test_nobody_is_struck_for_being_there_alone():
    """Perhaps somebody killed the process."""
    assert CrashSearch().crashed(set(), {"a"}, 0) == ()


def test_nobody_is_struck_where_several_were_in_hand():
    trial = CrashSearch()
    assert trial.crashed({"a", "b"}, ALL, 0) == ()
    assert trial.is_held("a")
    assert trial.is_held("b")
    assert not trial.is_held("c")


def test_where_nobody_was_in_hand_each_comes_back_alone():
    trial = CrashSearch()
    assert trial.crashed(set(), ALL, 0) == ()
    assert trial.released(0, ALL, has_others=False) == ("a",)
    assert trial.released(PROOF_SECONDS - 1, ALL, has_others=False) == ()
    assert trial.released(PROOF_SECONDS, ALL, has_others=False) == ("b",)
    assert not trial.is_held("a")


def test_a_crash_during_its_trial_convicts_it():
    trial = CrashSearch()
    trial.crashed(set(), ALL, 0)
    trial.released(0, ALL, has_others=False)
    assert trial.crashed(set(), {"a"}, 0) == ("a",)


def test_a_culprit_comes_back_after_all_others():
    trial = CrashSearch()
    trial.crashed(set(), ALL, 0)
    trial.released(0, ALL, has_others=False)
    trial.crashed(set(), {"a"}, 0)
    turns = [trial.released(at * PROOF_SECONDS, ALL, has_others=False) for at in range(4)]
    assert turns == [("b",), ("c",), ("d",), ("a",)]


def test_three_strikes_are_enough():
    trial = CrashSearch()
    for _ in range(2):
        trial.crashed({"a"}, ALL, PROOF_SECONDS)
    assert not trial.is_struck_out("a")
    trial.crashed({"a"}, ALL, PROOF_SECONDS)
    assert trial.is_struck_out("a")


def test_a_thousand_come_back_in_groups_and_the_culprit_is_found_in_few_crashes():
    trial = CrashSearch()
    everybody = {str(number) for number in range(1000)}
    now, crashes = 0.0, 1
    trial.crashed(set(), everybody, 0)
    while True:
        now += PROOF_SECONDS
        group = trial.released(now, everybody, has_others=False)
        if "637" in group:
            crashes += 1
            if trial.crashed(set(), set(group), 0):
                break
        assert now < 100 * PROOF_SECONDS
    assert crashes <= 5
    assert trial.crashed({"637"}, everybody, PROOF_SECONDS) == ("637",)


def test_those_that_do_not_come_back_hold_up_nobody():
    trial = CrashSearch()
    trial.crashed(set(), ALL, 0)
    assert trial.released(0, {"d"}, has_others=False) == ("d",)


def test_one_that_is_removed_is_forgotten():
    trial = CrashSearch()
    for _ in range(3):
        trial.crashed({"a"}, ALL, PROOF_SECONDS)
    trial.forget("a")
    assert not trial.is_struck_out("a")
    assert not trial.is_held("a")


def test_nobody_is_convicted_of_what_another_did():
    """One of those that nobody suspects crashes it again and again, while others are in hand."""
    trial = CrashSearch()
    there, now, struck = {*ALL, "culprit"}, 0.0, []
    trial.crashed({"a"}, there, 0.5)
    while not trial.is_struck_out("culprit"):
        held = {key for key in there if trial.is_held(key)}
        began_at = now
        while "culprit" in held:
            held -= set(trial.released(now, held, has_others=held != there))
            now += PROOF_SECONDS
            assert now < 100 * PROOF_SECONDS
        struck += trial.crashed(set(), there - held, now - began_at)
    assert struck == ["culprit"] * 3
