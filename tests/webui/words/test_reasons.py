"""What each reason word means to people."""

import pytest

from common.names import LONGEST_NAME
from webui.v1.errors import Forbidden, Rejected
from webui.words import reasons
from webui.words.failures import message_of


@pytest.mark.parametrize("cause", ["not_enough_space", "queue_full", "private_not_allowed"])
def test_a_cause_says_what_happened_to_the_wish(cause):
    alone = reasons.find(cause)
    kept, full = (reasons.find(f"{cause}{ending}") for ending in reasons.WISHES)
    assert kept.text == f"{alone.sentence} It's on the wishlist."
    assert full.text == f"{alone.sentence} The wishlist is full, too."
    assert full.clause == alone.clause


@pytest.mark.parametrize("word", ["", "moon", "moon_added_to_wishlist", "_wishlist_full"])
def test_an_unknown_word_means_nothing(word):
    assert reasons.find(word) == reasons.Reason()


def test_the_sentence_names_the_limit_that_is_checked():
    assert f" {LONGEST_NAME} characters" in reasons.find("name_too_long").text


def test_a_heading_is_a_sentence_without_its_period():
    too_slow = reasons.find("too_slow")
    assert too_slow.sentence == f"{too_slow.title}."
    assert too_slow.text.startswith(f"{too_slow.title}. ")


def test_no_reason_is_empty_and_advice_follows_a_sentence():
    for each in reasons.REASONS.values():
        assert each.clause or each.sentence
        assert each.sentence or not each.advice


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (Rejected("seed_ratio_fixed"), "A setting of this server decides this. Remove the setting"),
        (Rejected("seed_ratio_unreadable"), "The storage service can't use this value. Try"),
        (Forbidden("first_account_only"), "Ferry's storage account can't change the limits"),
    ],
)
def test_a_refused_limit_is_explained_in_words(failure, said):
    words = message_of(failure).words
    assert words.startswith(said)
    assert "ratio" not in words
