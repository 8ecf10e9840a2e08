"""Name a failed test at once, and print how long the tests of each folder took at the end.

Where TEST_RESULTS names a file, also write there what passed and what failed.
"""

import json
import os
from collections import Counter
from pathlib import Path, PurePosixPath

import pytest

FEW_TESTS = 500


def pytest_report_teststatus(report):
    """Name it where others get a dot: a long run explains its failures only at its end."""
    if report.failed and not isinstance(report, pytest.SubtestReport | pytest.CollectReport):
        category = "failed" if report.when == "call" else "error"
        return category, f"\n{report.nodeid} failed\n", (category.upper(), {"red": True})
    return None


def pytest_terminal_summary(terminalreporter):
    """Print the table of docs/testing.md: tests and their seconds, summed over all processes."""
    if place := os.environ.get("TEST_RESULTS"):
        Path(place).write_text(json.dumps(results(terminalreporter.stats)))
    seconds: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if hasattr(report, "duration") and not isinstance(report, pytest.SubtestReport):
                folder = folder_of(report.nodeid)
                seconds[folder] += report.duration
                tests[folder] += report.when == "call"
    if tests.total() >= FEW_TESTS:
        terminalreporter.section("seconds by folder")
        for folder, total in seconds.most_common():
            terminalreporter.line(f"| `{folder}` | {tests[folder]:,} | {total:,.0f} |")


def results(stats):
    failed = [*stats.get("failed", []), *stats.get("error", [])]
    return {
        "passed": len(stats.get("passed", [])),
        "skipped": len(stats.get("skipped", [])),
        "failed": sorted({report.nodeid for report in failed}),
    }


def folder_of(nodeid: str) -> str:
    """Return a test's folder right below `tests/`."""
    return "/".join(PurePosixPath(nodeid.partition("::")[0]).parent.parts[:2]) + "/"
