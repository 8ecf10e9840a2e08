"""Copies of objects on this machine's disk, which programs borrow."""

from concurrent.futures import ThreadPoolExecutor

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
