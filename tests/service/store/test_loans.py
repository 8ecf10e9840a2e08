"""Copies of objects on this machine's disk, which programs borrow."""

from concurrent.futures import ThreadPoolExecutor

from service.store.objects import loans as loans_module
from service.store.objects.loans import Loans

AT_ONCE, MANY = 8, 400


def test_many_who_borrow_at_once_do_not_disturb_each_other(tmp_path):
    """Each one looks through the folder while the drafts of the others get their names."""
    loans = Loans(tmp_path / "loans", 10**9)

    def borrow(number):
        return loans.lend(f"{number:032x}", lambda file: file.write(b"%d" % number))

    with ThreadPoolExecutor(AT_ONCE) as threads:
        for number, path in enumerate(threads.map(borrow, range(MANY))):
            assert path.read_bytes() == b"%d" % number


def adopted(loans, folder, *numbers, size=100):
    for number in numbers:
        source = folder / f"source {number}"
        source.write_bytes(bytes(size))
        loans.adopt(f"{number:032x}", source)
    return sorted(int(path.name, 16) for path in (folder / "loans").iterdir())


def test_files_that_nobody_was_promised_go_at_once_beyond_the_budget(tmp_path):
    loans = Loans(tmp_path / "loans", 300)
    assert adopted(loans, tmp_path, 1, 2, 3) == [1, 2, 3]
    loans.lend(f"{1:032x}", None)
    assert adopted(loans, tmp_path, 4, 5) == [1, 4, 5]


def test_all_files_take_no_more_than_half_of_what_the_disk_has_for_them(tmp_path, monkeypatch):
    loans = Loans(tmp_path / "loans", 10**9)

    def free_bytes(_folder):
        return 500 - sum(path.stat().st_size for path in (tmp_path / "loans").iterdir())

    # No test can fill the disk.
    monkeypatch.setattr(loans_module, "free_bytes", free_bytes)
    assert adopted(loans, tmp_path, 1, 2) == [1, 2]
    assert adopted(loans, tmp_path, 3) == [2, 3]
