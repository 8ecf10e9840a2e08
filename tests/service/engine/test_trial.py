from service.engine.trial import PROOF_SECONDS, Trial

ALL = {"a", "b", "c", "d"}


def test_one_that_was_alone_in_hand_is_the_culprit():
    assert Trial().crashed({"a"}, ALL) == ("a",)


def test_nobody_is_struck_for_being_there_alone():
    """Perhaps somebody killed the process."""
    assert Trial().crashed(set(), {"a"}) == ()


def test_nobody_is_struck_where_several_were_in_hand():
    trial = Trial()
    assert trial.crashed({"a", "b"}, ALL) == ()
    assert trial.is_held("a")
    assert trial.is_held("b")
    assert not trial.is_held("c")


def test_where_nobody_was_in_hand_each_comes_back_alone():
    trial = Trial()
    assert trial.crashed(set(), ALL) == ()
    assert trial.released(0, ALL) == ("a",)
    assert trial.released(PROOF_SECONDS - 1, ALL) == ()
    assert trial.released(PROOF_SECONDS, ALL) == ("b",)
    assert not trial.is_held("a")


def test_a_crash_during_its_trial_convicts_it():
    trial = Trial()
    trial.crashed(set(), ALL)
    trial.released(0, ALL)
    assert trial.crashed(set(), {"a"}) == ("a",)


def test_a_culprit_comes_back_after_all_others():
    trial = Trial()
    trial.crashed(set(), ALL)
    trial.released(0, ALL)
    trial.crashed(set(), {"a"})
    turns = [trial.released(at * PROOF_SECONDS, ALL) for at in range(4)]
    assert turns == [("b",), ("c",), ("d",), ("a",)]


def test_three_strikes_are_enough():
    trial = Trial()
    for _ in range(2):
        trial.crashed({"a"}, ALL)
    assert not trial.is_struck_out("a")
    trial.crashed({"a"}, ALL)
    assert trial.is_struck_out("a")


def test_a_thousand_come_back_in_groups_and_the_culprit_is_found_in_few_crashes():
    trial = Trial()
    everybody = {str(number) for number in range(1000)}
    now, crashes = 0.0, 1
    trial.crashed(set(), everybody)
    while True:
        now += PROOF_SECONDS
        group = trial.released(now, everybody)
        if "637" in group:
            crashes += 1
            if trial.crashed(set(), set(group)):
                break
        assert now < 100 * PROOF_SECONDS
    assert crashes <= 5
    assert trial.crashed({"637"}, everybody) == ("637",)


def test_those_that_do_not_come_back_hold_up_nobody():
    trial = Trial()
    trial.crashed(set(), ALL)
    assert trial.released(0, {"d"}) == ("d",)


def test_one_that_is_removed_is_forgotten():
    trial = Trial()
    for _ in range(3):
        trial.crashed({"a"}, ALL)
    trial.forget("a")
    assert not trial.is_struck_out("a")
    assert not trial.is_held("a")
