"""A short version of the soak that `make soak` runs for half an hour."""

from collections import Counter

import pytest

from lab.soak.growth import Sample
from lab.soak.soaking import SAMPLES, WARM_UP_SHARE, Report, soaked

PEOPLE = 50
# As many as people do in a minute at the pace of `make soak`, on a machine that isn't overloaded.
ACTS = 24 * PEOPLE
LAST_SAMPLE = 1 - (1 - WARM_UP_SHARE) / SAMPLES
EVEN = [Sample(memory=500, threads=60, handles=300)] * SAMPLES


def test_growth_is_reported():
    grows = [Sample(500 + 2 * each, 60 + 2 * each, 300 + 2 * each) for each in range(SAMPLES)]
    report = Report(PEOPLE, 60, 100, Counter(), grows)
    assert report.grown == ["memory", "threads", "handles"]
    assert "GROWN: memory, first third 529 MiB, last third 649 MiB" in str(report)
    assert not report.is_well


def test_errors_are_reported():
    warned = Counter({"WARNING webui service failed": 3})
    report = Report(PEOPLE, 60, 100, Counter({"/ answers 500": 2}), EVEN, warned)
    assert report.grown == []
    assert "2 times: / answers 500" in str(report)
    assert "3 times: WARNING webui service failed" in str(report)
    assert not report.is_well


def test_an_even_run_is_well():
    assert Report(PEOPLE, 60, 100, Counter(), EVEN).is_well


@pytest.mark.slow
@pytest.mark.alone
def test_fifty_people_cause_no_errors_and_leave_nothing_behind(tmp_path):
    """They keep the whole machine busy: beside other tests, writes would wait too long."""
    report = soaked(tmp_path, people=PEOPLE, acts=ACTS, pause_seconds=1.3)
    assert report.is_well, str(report)
    assert report.acts >= ACTS * LAST_SAMPLE
