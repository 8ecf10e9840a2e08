import stat
from concurrent.futures import ThreadPoolExecutor

from config.environment import read_or_make_key


def test_the_key_is_made_once_and_readable_by_its_owner_only(tmp_path):
    path = tmp_path / "secret_key"
    made = read_or_make_key(path)
    assert len(made) >= 50
    assert read_or_make_key(path) == made
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_many_that_start_at_once_agree_on_one_key(tmp_path):
    path = tmp_path / "secret_key"
    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(lambda _n: read_or_make_key(path), range(64)))
    assert len(keys) == 1
    assert [left.name for left in tmp_path.iterdir()] == ["secret_key"]
