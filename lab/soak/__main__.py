"""`python -m lab.soak`: a hundred people use Ferry for SOAK_SECONDS, by default half an hour.

It fails if an answer is wrong, if the log contains an error, or if the median of memory, threads,
or file handles in the last third of the time exceeds that of the first third by more than a bound.
"""

import os
import sys
import tempfile
from pathlib import Path

from lab.soak.soaking import soaked


def main() -> int:
    seconds = float(os.environ.get("SOAK_SECONDS", "1800"))
    os.environ["ENV_FILE"] = os.devnull
    with tempfile.TemporaryDirectory(prefix="ferry-soak-") as home:
        report = soaked(Path(home), seconds=seconds)
    print(report)
    return int(not report.is_well)


if __name__ == "__main__":
    sys.exit(main())
