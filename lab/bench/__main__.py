"""Measure Ferry beside other programs, in one run: `python -m lab.bench [MODULE…]`.

Raw numbers go to lab/bench/results/. The output names missing peers; `python -m
lab.bench.peers` installs them.
"""

import sys

from lab.bench.groups import GROUPS, rows_of
from lab.bench.harness import Report


def main(wanted: list[str]) -> int:
    report, failed = Report(), []
    for name in wanted or GROUPS:
        try:
            for row in rows_of(name):
                report.add(row, name)
        except ChildProcessError:
            failed.append(name)
    if failed:
        print(f"Failed: {', '.join(failed)}")
    return int(report.close() or bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
