"""The half hours of a schedule, numbered from Monday at midnight on."""

PER_DAY = 48
PER_WEEK = 7 * PER_DAY


def time_of(half: int) -> str:
    """Return `09:30` for a half hour of a day."""
    return f"{half // 2:02}:{half % 2 * 30:02}"
