import pytest

from service.store.objects.bucket import Bucket

KEYS = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}


def test_all_of_a_url_is_understood():
    bucket = Bucket.of("s3://films/ferry/main?endpoint=http://10.0.0.7:8333", KEYS)
    assert bucket == Bucket(
        "http://10.0.0.7:8333", "films", "ferry/main", "us-east-1", "id", "secret"
    )
    assert "secret" not in repr(bucket)


def test_without_an_endpoint_it_is_amazons_in_its_region():
    bucket = Bucket.of("s3://films", KEYS | {"AWS_REGION": "eu-west-3"})
    assert bucket.endpoint == "https://s3.eu-west-3.amazonaws.com"
    assert (bucket.prefix, bucket.region) == ("", "eu-west-3")


def test_keys_are_read_from_the_file_that_all_clients_read(tmp_path):
    file = tmp_path / "credentials"
    file.write_text("[default]\naws_access_key_id = x\naws_secret_access_key = %y\n[other]\n")
    bucket = Bucket.of("s3://films", {"AWS_SHARED_CREDENTIALS_FILE": str(file)})
    assert (bucket.key_id, bucket.secret) == ("x", "%y")
    both = KEYS | {"AWS_SHARED_CREDENTIALS_FILE": str(file)}
    assert Bucket.of("s3://films", both).key_id == "id"


@pytest.mark.parametrize(
    "url",
    [
        *("films", "s3:films", "s3://", "http://films/", "s3://films?endpoint=", "s3://films?x=1"),
        *("s3://films?endpoint=10.0.0.7:8333", "s3://films?endpoint=ftp://10.0.0.7"),
        *("s3://films?endpoint=http://10.0.0.7/path", "s3://films?endpoint=http://h?q"),
    ],
)
def test_a_url_that_names_no_bucket_is_refused(url):
    with pytest.raises(ValueError, match="names no bucket"):
        Bucket.of(url, KEYS)


@pytest.mark.parametrize(
    "environment",
    [
        *({}, {"AWS_ACCESS_KEY_ID": "id"}, {"AWS_SHARED_CREDENTIALS_FILE": "/nonexistent"}),
        {"AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_PROFILE": "other"},
    ],
)
def test_a_bucket_without_keys_is_refused(environment):
    with pytest.raises((ValueError, KeyError), match=r"keys|default|other"):
        Bucket.of("s3://films", environment)
