"""The sixty faults still apply to the code. `make mutants` shows whether the tests catch them."""

from collections import Counter

from lab.mutants import faults
from tests.running import BASE

FAULTS = faults.read()


def test_there_are_sixty_across_all_packages():
    assert Counter(fault.file.split("/")[0] for fault in FAULTS) == {
        "common": 4,
        "config": 4,
        "host": 7,
        "webui": 23,
        "service": 22,
    }


def test_each_fault_changes_a_line_that_occurs_once_in_its_file():
    misfits = {}
    for fault in FAULTS:
        try:
            changed = fault.made_in((BASE / fault.file).read_text())
            compile(changed, fault.file, "exec")
        except (OSError, SyntaxError, faults.NoLongerApplies) as misfit:
            misfits[fault.name] = str(misfit)
    assert misfits == {}


def test_each_names_tests_that_are_there():
    named = {path for fault in FAULTS for path in fault.tests}
    assert [path for path in sorted(named) if not (BASE / path).exists()] == []
    assert [fault.name for fault in FAULTS if not fault.tests or fault.old == fault.new] == []
