from service.transfers.quota import Claim, find_shortages

MUCH = 10**12


def claim(transfer_id, size_bytes, *, missing=None, account=1, is_waiting=False):
    missing_bytes = size_bytes if missing is None else missing
    return Claim(transfer_id, account, transfer_id, size_bytes, missing_bytes, is_waiting)


def test_a_transfer_that_fits_is_accepted():
    assert find_shortages([claim(1, 50), claim(2, 50)], {1: 100}, MUCH) == {}


def test_the_later_of_two_waits():
    claims = [claim(2, 60), claim(1, 60)]
    assert find_shortages(claims, {1: 100}, MUCH) == {2: "not_enough_space"}


def test_running_transfers_precede_waiting_ones():
    claims = [claim(1, 60, is_waiting=True), claim(2, 60)]
    assert find_shortages(claims, {1: 100}, MUCH) == {1: "not_enough_space"}


def test_a_transfer_that_never_fits_does_not_block_others():
    assert find_shortages([claim(1, 10**9), claim(2, 60)], {1: 100}, MUCH) == {
        1: "not_enough_space"
    }


def test_accounts_share_the_disk_but_not_their_quotas():
    claims = [claim(1, 60), claim(2, 60, account=2)]
    assert find_shortages(claims, {1: 100, 2: 100}, MUCH) == {}
    assert find_shortages(claims, {1: 100, 2: 100}, 100) == {2: "disk_full"}


def test_bytes_already_on_the_disk_need_no_more_space():
    assert find_shortages([claim(1, 60, missing=0)], {1: 100}, 0) == {}
    assert find_shortages([claim(1, 60, missing=10)], {1: 100}, 10) == {}


def test_an_unknown_size_needs_a_disk_that_is_not_full():
    assert find_shortages([claim(1, 0, missing=1)], {1: 100}, MUCH) == {}
    assert find_shortages([claim(1, 0, missing=1)], {1: 100}, 0) == {1: "disk_full"}
