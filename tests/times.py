"""Print how long the tests of each folder took, after a run of many tests."""

from collections import Counter
from pathlib import PurePosixPath

FEW_TESTS = 500


def pytest_terminal_summary(terminalreporter):
    """Print the table of docs/testing.md: tests and their seconds, summed over all processes."""
    seconds: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if hasattr(report, "duration"):
                folder = folder_of(report.nodeid)
                seconds[folder] += report.duration
                tests[folder] += report.when == "call"
    if tests.total() >= FEW_TESTS:
        terminalreporter.section("seconds by folder")
        for folder, total in seconds.most_common():
            terminalreporter.line(f"| `{folder}` | {tests[folder]:,} | {total:,.0f} |")


def folder_of(nodeid: str) -> str:
    """Return a test's folder right below `tests/`."""
    return "/".join(PurePosixPath(nodeid.partition("::")[0]).parent.parts[:2]) + "/"
