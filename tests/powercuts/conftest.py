from tests.faults.conftest import tally

__all__ = ["tally"]
