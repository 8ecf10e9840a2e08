import gc
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from service.errors import (
    BadAddress,
    BadMagnet,
    NoRoom,
    NotATorrent,
    NotFound,
    NotNow,
)
from service.library import free_names, library
from service.models import Account, DeletedItem, File, TorrentFile, Transfer, Wish
from service.transfers import transfers, wishlist
from service.transfers.torrents import identity
from tests.cases import each_case
from tests.service.builders import (
    NOW,
    a_file,
    a_folder,
    a_torrent,
    add_torrent,
    alice,
    bencoded,
    fill_wishlist,
    magnet,
    mallory,
    stored,
    torrent_info,
)

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(hours=1)


def finish(transfer, **result):
    Transfer.objects.filter(pk=transfer.pk).update(
        state=Transfer.State.DONE, progress_percent=101, **result
    )


def fail(transfer):
    Transfer.objects.filter(pk=transfer.pk).update(state=Transfer.State.FAILED)


def not_now(call):
    with pytest.raises(NotNow) as refused:
        call()
    return refused.value


# Adding


def test_a_magnet_waits_in_the_queue():
    account = alice()
    transfer = transfers.add_magnet(account, magnet(name="Sintel"), 0, NOW)
    assert (transfer.title, transfer.state, transfer.wire_hash) == ("Sintel", "queued", "a" * 40)
    assert (transfer.folder, transfer.size_bytes) == (library.root_of(account), 0)
    assert [each.id for each in transfers.list_rows(account)] == [transfer.pk]


def test_a_magnet_without_a_name_has_its_hash():
    assert transfers.add_magnet(alice(), magnet(), 0, NOW).title == "a" * 40


def test_a_torrent_is_saved_with_its_details():
    account = alice()
    transfer = add_torrent(account, a_torrent(private=1), 0, NOW)
    assert (transfer.title, transfer.size_bytes, transfer.is_private) == ("Sintel", 100, True)
    assert bytes(transfer.torrent.content) == a_torrent(private=1)


# Its objects in memory


def add_it():
    return add_torrent(alice(), a_torrent(), 0, NOW)


def wish_for_it():
    account = alice(space_max_bytes=99)
    not_now(lambda: add_torrent(account, a_torrent(), 0, NOW))
    return account


def take_up_the_wish():
    account = wish_for_it()
    Account.objects.update(space_max_bytes=100)
    wishlist.take_up(NOW)
    assert Transfer.objects.count() == 1
    return account


def come_by_its_address():
    transfer = transfers.add_url(alice(), "http://example.org/a.torrent", 0, NOW)
    return identity.become_torrent(Transfer.objects.all(), transfer, a_torrent(), NOW)


@pytest.mark.parametrize("way", [add_it, wish_for_it, take_up_the_wish, come_by_its_address])
def test_a_torrent_file_leaves_memory_without_the_garbage_collector(way):
    gc.collect()
    gc.disable()
    try:
        kept = way()
        assert not [each for each in gc.get_objects() if isinstance(each, TorrentFile)], kept
    finally:
        gc.enable()
    assert bytes(TorrentFile.objects.get().content) == a_torrent()


@each_case(
    ("url", "title"),
    [
        ("http://example.org/a/film%20one.mkv?x=1", "film one.mkv"),
        ("https://example.org/", "example.org"),
        ("https://example.org", "example.org"),
        ("https://example.org/a%2Fb%0A.mkv", "a b .mkv"),
        ("HTTP://example.org/%2e%2e", "download"),
    ],
)
def test_an_address_gives_its_last_part_as_title(url, title):
    assert transfers.add_url(alice(), url, 0, NOW).title == title


def test_a_magnet_may_come_as_an_address():
    transfer = transfers.add_url(alice(), magnet(name="Sintel"), 0, NOW)
    assert (transfer.kind, transfer.title) == ("magnet", "Sintel")


@each_case(
    "url",
    [
        "",
        "film.mkv",
        "file:///etc/passwd",
        "ftp://example.org/",
        "javascript:alert(1)",
        "http://",
        "http://[::1",
        "http://example.org:99999/",
        "http://example.org/\r\nHost: x",
        "http://example.org/" + "x" * 9000,
    ],
)
def test_malformed_urls_are_refused(url):
    account = alice()
    with pytest.raises(BadAddress):
        transfers.add_url(account, url, 0, NOW)
    assert transfers.list_rows(account) == []


def test_bad_input_is_refused():
    account = alice()
    with pytest.raises(BadMagnet):
        transfers.add_magnet(account, "magnet:?", 0, NOW)
    with pytest.raises(NotATorrent):
        add_torrent(account, b"<html>", 0, NOW)
    with pytest.raises(NotFound):
        transfers.add_magnet(account, magnet(), a_folder(mallory()).pk, NOW)
    assert transfers.list_rows(account) == []


# Titles


def test_titles_are_kept_apart_from_names_and_from_each_other():
    account = alice()
    a_file(account, "Sintel")
    titles = [
        transfers.add_magnet(account, magnet(digit, "Sintel"), 0, NOW).title for digit in "ab"
    ]
    assert titles == ["Sintel (2)", "Sintel (3)"]


def test_titles_of_other_folders_do_not_matter():
    account = alice()
    transfers.add_magnet(account, magnet("a", "Sintel"), 0, NOW)
    elsewhere = transfers.add_magnet(account, magnet("b", "Sintel"), a_folder(account).pk, NOW)
    assert elsewhere.title == "Sintel"


def test_a_folders_title_is_numbered_at_its_end():
    account = alice()
    a_folder(account, "Vol. 1")
    many = a_torrent("Vol. 1", files={"a": 1, "b": 2})
    assert add_torrent(account, many, 0, NOW).title == "Vol. 1 (2)"


def test_a_failed_transfer_keeps_no_title():
    account = alice()
    fail(transfers.add_magnet(account, magnet("a", "Sintel"), 0, NOW))
    assert a_folder(account, "Sintel")


def test_a_hostile_title_is_made_good():
    transfer = transfers.add_magnet(alice(), magnet(name="..%2F..%2Fetc%0A"), 0, NOW)
    assert transfer.title == ".. .. etc"


# Duplicates


def test_the_same_torrent_twice_is_the_same_transfer():
    account = alice()
    first = transfers.add_magnet(account, magnet(name="Sintel"), 0, NOW)
    again = transfers.add_magnet(account, magnet(name="Other"), a_folder(account).pk, LATER)
    assert again == first
    assert again.title == "Sintel"


def test_a_magnet_and_its_torrent_are_the_same():
    account = alice()
    first = add_torrent(account, a_torrent(), 0, NOW)
    uri = f"magnet:?xt=urn:btih:{first.info_hash_v1}"
    assert transfers.add_magnet(account, uri, 0, NOW) == first


def test_a_hybrid_is_recognized_by_either_hash():
    account = alice()
    both = f"magnet:?xt=urn:btih:{'a' * 40}&xt=urn:btmh:1220{'b' * 64}"
    first = transfers.add_magnet(account, both, 0, NOW)
    for half in (magnet("a"), f"magnet:?xt=urn:btmh:1220{'b' * 64}"):
        assert transfers.add_magnet(account, half, 0, NOW) == first


def test_a_torrent_of_version_2_has_its_hash_cut_on_the_wire():
    transfer = transfers.add_magnet(alice(), f"magnet:?xt=urn:btmh:1220{'b' * 64}", 0, NOW)
    assert transfer.wire_hash == "b" * 40


def test_the_same_address_twice_is_the_same_transfer():
    account = alice()
    first = transfers.add_url(account, "http://example.org/a", 0, NOW)
    assert transfers.add_url(account, " http://example.org/a", 0, NOW) == first
    assert transfers.add_url(account, "http://example.org/b", 0, NOW) != first


def test_two_people_may_want_the_same():
    mine = transfers.add_magnet(alice(), magnet(), 0, NOW)
    assert transfers.add_magnet(mallory(), magnet(), 0, NOW) != mine


def test_a_finished_transfer_whose_files_exist_is_not_fetched_again():
    account = alice()
    first = transfers.add_magnet(account, magnet(), 0, NOW)
    finish(first, folder_created_id=a_folder(account).pk)
    assert transfers.add_magnet(account, magnet(), 0, NOW) == first


@each_case("end", ["deleted", "failed"])
def test_deleted_or_failed_transfers_are_fetched_again(end):
    account = alice()
    first = add_torrent(account, a_torrent(), 0, NOW)
    if end == "failed":
        fail(first)
    else:
        file = a_file(account)
        finish(first, file_created_id=file.pk)
        library.delete_file(account, file.pk, NOW)
    anew = add_torrent(account, a_torrent(), 0, LATER)
    assert anew.pk != first.pk
    assert anew.state == "queued"
    assert Transfer.objects.count() == TorrentFile.objects.count() == 1


def test_an_address_is_fetched_again_once_the_first_fetch_is_over():
    account = alice()
    first = transfers.add_url(account, "http://example.org/a.txt", 0, NOW)
    finish(first)
    finish(first, file_created_id=a_file(account, "a.txt").pk)
    again = transfers.add_url(account, "http://example.org/a.txt", 0, LATER)
    assert (again.state, again.title, again.notice) == ("queued", "a (2).txt", "fetched_again")
    elsewhere = transfers.add_url(account, "http://example.org/a.txt", a_folder(account).pk, LATER)
    assert (elsewhere.state, elsewhere.title) == ("queued", "a.txt")
    assert transfers.get(account, first.pk).state == "done"


def test_an_address_on_its_way_is_fetched_once_into_each_folder():
    account = alice()
    url, films = "http://example.org/a.txt", a_folder(account)
    first, second = (transfers.add_url(account, url, folder_id, NOW) for folder_id in (0, films.pk))
    assert (first.folder.parent, second.folder) == (None, films)
    assert transfers.add_url(account, url, 0, LATER) == first
    assert transfers.add_url(account, url, films.pk, LATER) == second


def test_a_hybrid_takes_the_place_of_its_failed_halves():
    account = alice()
    for half in (magnet("a"), f"magnet:?xt=urn:btmh:1220{'b' * 64}"):
        fail(transfers.add_magnet(account, half, 0, NOW))
    assert len(transfers.list_rows(account)) == 2
    both = f"magnet:?xt=urn:btih:{'a' * 40}&xt=urn:btmh:1220{'b' * 64}"
    whole = transfers.add_magnet(account, both, 0, NOW)
    assert [each.id for each in transfers.list_rows(account)] == [whole.pk]


# Refusals


def test_a_torrent_too_large_for_the_quota_becomes_a_wish():
    account = alice(space_max_bytes=99)
    refused = not_now(lambda: add_torrent(account, a_torrent(), 0, NOW))
    assert refused.reason == "not_enough_space_added_to_wishlist"
    wish = Wish.objects.get()
    assert refused.wish == wish
    assert (wish.title, wish.size_bytes) == ("Sintel", 100)
    assert wish.magnet == f"magnet:?xt=urn:btih:{wish.info_hash_v1}"
    assert bytes(wish.torrent.content) == a_torrent()
    assert transfers.wishes(account) == [wish]
    assert transfers.list_rows(account) == []


def test_the_space_of_running_transfers_is_already_reserved():
    account = alice(space_max_bytes=150)
    add_torrent(account, a_torrent("one"), 0, NOW)
    refused = not_now(lambda: add_torrent(account, a_torrent("two"), 0, NOW))
    assert refused.reason == "not_enough_space_added_to_wishlist"


def test_the_announced_size_of_a_magnet_counts_against_the_space():
    account = alice(space_max_bytes=99)
    refused = not_now(lambda: transfers.add_magnet(account, magnet() + "&xl=100", 0, NOW))
    assert refused.wish.size_bytes == 100


def test_a_full_queue_says_so(settings):
    settings.QUEUE_LIMIT = 1
    account = alice()
    transfers.add_magnet(account, magnet("a"), 0, NOW)
    refused = not_now(lambda: transfers.add_magnet(account, magnet("b"), 0, NOW))
    assert refused.reason == "queue_full_added_to_wishlist"
    assert transfers.add_magnet(account, magnet("a"), 0, NOW)
    refused = not_now(lambda: transfers.add_url(account, "http://example.org/", 0, NOW))
    assert refused.reason == "queue_full_wishlist_full"


def test_a_full_wishlist_says_so(settings):
    settings.QUEUE_LIMIT = 1
    account = alice()
    transfers.add_magnet(account, magnet("a"), 0, NOW)
    fill_wishlist(account, transfers.MOST_WISHES - 1)
    assert not_now(lambda: transfers.add_magnet(account, magnet("b"), 0, NOW)).wish
    refused = not_now(lambda: transfers.add_magnet(account, magnet("c"), 0, NOW))
    assert refused.reason == "queue_full_wishlist_full"
    assert not_now(lambda: transfers.add_magnet(account, magnet("b"), 0, NOW)).wish


def test_adding_a_torrent_removes_its_wish():
    account = alice(space_max_bytes=99)
    not_now(lambda: add_torrent(account, a_torrent(), 0, NOW))
    Account.objects.update(space_max_bytes=100)
    add_torrent(account, a_torrent(), 0, NOW)
    assert transfers.wishes(account) == []
    assert TorrentFile.objects.count() == 1


def test_deleting_a_torrent_removes_its_wish():
    account = alice()
    transfer = transfers.add_magnet(account, magnet(), 0, NOW)
    wish = {"title": "x", "size_bytes": 1, "magnet": magnet(), "created_at": NOW}
    Wish.objects.create(
        account=account, folder=library.root_of(account), info_hash_v1="a" * 40, **wish
    )
    transfers.delete(account, transfer.pk, NOW)
    assert transfers.wishes(account) == []


# Uploads


def test_an_upload_is_done_at_once():
    account = alice()
    transfer = transfers.record_upload(account, "film.mkv", stored(50), 0, NOW)
    assert (transfer.state, transfer.progress_percent) == ("done", 101)
    file = library.file(account, transfer.file_created_id)
    assert (file.name, file.size_bytes) == ("film.mkv", 50)
    assert transfers.list_rows(account) == []
    assert transfers.get(account, transfer.pk) == transfer
    account.refresh_from_db()
    assert (account.library_revision, account.transfers_revision) == (1, 1)
    assert account.space_used_bytes == 50


def test_two_uploads_of_one_name_are_both_kept():
    account = alice()
    titles = [transfers.record_upload(account, "a.txt", stored(), 0, NOW).title for _ in range(2)]
    assert titles == ["a.txt", "a (2).txt"]


def test_an_upload_with_a_bad_name_gets_a_good_one():
    transfer = transfers.record_upload(alice(), "../../etc/passwd\n", stored(), 0, NOW)
    assert transfer.title == ".. .. etc passwd"


def test_an_upload_that_does_not_fit_is_refused_completely():
    account = alice(space_max_bytes=5)
    with pytest.raises(NoRoom):
        transfers.record_upload(account, "a.txt", stored(6), 0, NOW)
    assert not Transfer.objects.exists()
    account.refresh_from_db()
    assert (account.space_used_bytes, account.transfers_revision) == (0, 0)


# Reading and deleting


def test_deleting_a_transfer_keeps_its_files():
    account = alice()
    transfer = transfers.record_upload(account, "a.txt", stored(), 0, NOW)
    transfers.delete(account, transfer.pk, NOW)
    with pytest.raises(NotFound):
        transfers.get(account, transfer.pk)
    assert library.file(account, transfer.file_created_id)


def test_deleting_a_transfer_deletes_its_torrent():
    account = alice()
    transfers.delete(account, add_torrent(account, a_torrent(), 0, NOW).pk, NOW)
    assert not TorrentFile.objects.exists()


def test_anothers_transfer_is_not_found():
    owner, stranger = alice(), mallory()
    transfer = transfers.add_magnet(owner, magnet(), 0, NOW)
    assert transfers.get(owner, transfer.pk) == transfer
    for call in (transfers.get, lambda *of: transfers.delete(*of, NOW)):
        with pytest.raises(NotFound):
            call(stranger, transfer.pk)
    assert transfers.list_rows(stranger) == []


def test_failed_transfers_stay_listed():
    account = alice()
    transfer = transfers.add_magnet(account, magnet(), 0, NOW)
    fail(transfer)
    assert [each.id for each in transfers.list_rows(account)] == [transfer.pk]


@pytest.mark.slow
def test_many_transfers_are_listed_in_one_query_without_their_torrents():
    account = alice()
    for number in range(30):
        content = bencoded({"info": torrent_info(f"torrent {number}")})
        add_torrent(account, content, 0, NOW)
    with CaptureQueriesContext(connection) as queries:
        assert len(transfers.list_rows(account)) == 30
    assert len(queries) == 1
    assert "content" not in queries[0]["sql"]


@pytest.mark.slow
@pytest.mark.sqlite
def test_done_transfers_are_passed_over_unread():
    account = alice()
    transfers.record_upload(account, "upload", stored(), 0, NOW)
    root = library.root_of(account)

    def steps():
        listing = steps_of(lambda: transfers.list_rows(account))
        naming = steps_of(lambda: free_names.free_name(root, "new", is_folder=False))
        return listing, naming

    few = steps()
    example = Transfer.objects.values().get() | {"id": None}
    Transfer.objects.bulk_create(
        Transfer(**example | {"title": f"upload {number}"}) for number in range(3000)
    )
    assert transfers.list_rows(account) == []
    # Reading a row takes several steps.
    assert [many - one < 300 for many, one in zip(steps(), few, strict=True)] == [True, True]


def steps_of(act):
    """Count the instructions that SQLite's virtual machine runs for `act`."""
    count = 0

    def step():
        nonlocal count
        count += 1

    connection.connection.set_progress_handler(step, 1)
    try:
        act()
    finally:
        connection.connection.set_progress_handler(None, 1)
    return count


def test_uploads_are_forgotten_after_30_days_and_their_files_stay():
    account = alice()
    upload = transfers.record_upload(account, "film.mkv", stored(), 0, NOW)
    running = transfers.add_magnet(account, magnet(), 0, NOW)
    transfers.prune(NOW + timedelta(days=30))
    assert transfers.get(account, upload.pk)
    transfers.prune(NOW + timedelta(days=31))
    assert list(Transfer.objects.all()) == [running]
    assert library.file(account, upload.file_created_id)


def test_an_upload_that_replaces_a_file_keeps_the_old_one_for_later():
    account = alice()
    first = transfers.record_upload(account, "a.txt", stored(7), 0, NOW)
    second = transfers.record_upload(account, "a.txt", stored(9), 0, NOW, replaces=True)
    assert (second.title, second.size_bytes) == ("a.txt", 9)
    assert [file.pk for file in File.objects.all()] == [second.file_created_id]
    item = DeletedItem.objects.get()
    assert (item.entry_id, item.size_bytes) == (first.file_created_id, 7)


def test_an_upload_without_space_replaces_nothing():
    account = alice(space_max_bytes=10)
    transfers.record_upload(account, "a.txt", stored(7), 0, NOW)
    with pytest.raises(NoRoom):
        transfers.record_upload(account, "a.txt", stored(9), 0, NOW, replaces=True)
    assert [file.size_bytes for file in File.objects.all()] == [7]
