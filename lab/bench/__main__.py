"""Measure Ferry beside other programs, in one run: `python -m lab.bench [GROUP…]`.

Raw numbers go to lab/bench/results/. The output names missing peers; `python -m
lab.bench.peers` installs them.
"""

import argparse
import sys
from collections.abc import Sequence

from lab.bench.groups import GROUPS, rows_of
from lab.bench.harness import Report


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.bench", description=__doc__)
    parser.add_argument("groups", nargs="*", choices=GROUPS, metavar="GROUP", help="all by default")
    report, failed = Report(), []
    for name in parser.parse_args(arguments).groups or GROUPS:
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
