"""What of S3A's settings another client of S3 can be told; the rest is S3A's affair."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from hivesql_planner.settings.s3_access import S3Access, s3_access

KEYS = {"fs.s3a.access.key": "k", "fs.s3a.secret.key": "s"}
HERE = {"fs.s3a.endpoint.region": "eu-north-1"}
BY_KEYS = S3Access(
    bucket="b-1", region="eu-north-1", endpoint=None, is_in_path=False, keys=("k", "s", None)
)
PROVIDER = "fs.s3a.aws.credentials.provider"
OF_HADOOP = "org.apache.hadoop.fs.s3a"
OF_AMAZON = "software.amazon.awssdk.auth.credentials"
OF_ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "ek", "AWS_SECRET_ACCESS_KEY": "es"}
WEB = {"AWS_ROLE_ARN": "arn", "AWS_WEB_IDENTITY_TOKEN_FILE": "/token"}


def access(settings: Mapping[str, str], **environment: str) -> S3Access | None:
    return s3_access("b-1", settings, environment)


@pytest.mark.parametrize(
    ("settings", "keys"),
    [
        ({}, ("k", "s", None)),
        ({"fs.s3a.session.token": "t"}, ("k", "s", "t")),
        ({"fs.s3a.bucket.b-1.access.key": "own"}, ("own", "s", None)),
        ({"fs.s3a.bucket.other.access.key": "not"}, ("k", "s", None)),
        ({PROVIDER: f"{OF_HADOOP}.SimpleAWSCredentialsProvider"}, ("k", "s", None)),
        # The first that has keys counts, as in S3A.
        ({PROVIDER: f"{OF_AMAZON}.EnvironmentVariableCredentialsProvider,\n "
          f"{OF_HADOOP}.SimpleAWSCredentialsProvider"}, ("ek", "es", "et")),
    ],
)  # fmt: skip
def test_keys(settings: dict[str, str], keys: tuple[str, str, str | None]) -> None:
    environment = {**OF_ENVIRONMENT, "AWS_SESSION_TOKEN": "et"}
    known = access({**KEYS, **HERE, **settings}, **environment)
    assert known is not None
    assert known.keys == keys
    assert "own" not in repr(known) and "'s'" not in repr(known)


def test_who_asks_without_keys_in_settings() -> None:
    of_environment = access(HERE, **OF_ENVIRONMENT)
    of_role, anonymous = (
        access(HERE),
        access(HERE | {PROVIDER: f"{OF_HADOOP}.AnonymousAWSCredentialsProvider"}),
    )
    web = {PROVIDER: f"{OF_AMAZON}.WebIdentityTokenFileCredentialsProvider"}
    assert of_environment is not None and of_environment.keys == ("ek", "es", None)
    assert of_role is not None and (of_role.keys, of_role.is_anonymous) == (None, False)
    assert anonymous is not None and (anonymous.keys, anonymous.is_anonymous) == (None, True)
    assert access(HERE | web, **WEB) is not None
    # S3A does not look at these unless it is told to.
    assert access(HERE, **WEB) is None


@pytest.mark.parametrize(
    ("settings", "bucket", "region", "endpoint", "is_in_path"),
    [
        ({"endpoint": "http://10.0.0.1:9000"}, "b-1", "us-east-1", "http://10.0.0.1:9000", True),
        ({"endpoint": "minio:9000", "path.style.access": "true"}, "b-1", "us-east-1",
         "https://minio:9000", True),
        ({"endpoint": "minio:9000", "connection.ssl.enabled": "false"}, "b-1", "us-east-1",
         "http://b-1.minio:9000", False),
        ({"endpoint": "https://minio/", "endpoint.region": "x"}, "with.dots", "x",
         "https://minio", True),
        ({"endpoint": "s3.eu-west-1.amazonaws.com"}, "b-1", "eu-west-1",
         "https://b-1.s3.eu-west-1.amazonaws.com", False),
        ({"endpoint.region": "eu-west-1"}, "with.dots", "eu-west-1", None, True),
    ],
)  # fmt: skip
def test_addresses(
    settings: dict[str, str], bucket: str, region: str, endpoint: str | None, is_in_path: bool
) -> None:
    texts = {f"fs.s3a.{name}": text for name, text in settings.items()}
    known = s3_access(bucket, KEYS | texts, {})
    assert known is not None
    assert (known.region, known.endpoint, known.is_in_path) == (region, endpoint, is_in_path)


def test_patience() -> None:
    texts = {"retry.limit": "2", "retry.interval": "20ms", "connection.request.timeout": "5s",
             "multiobjectdelete.enable": "false"}  # fmt: skip
    known = access(KEYS | HERE | {f"fs.s3a.{name}": text for name, text in texts.items()})
    assert known is not None
    assert (known.retries, known.pause, known.timeout) == (2, 0.02, 5.0)
    assert not known.deletes_many
    assert access(KEYS | HERE | {"fs.s3a.threads.max": "9", "fs.s3a.retry.interval": ""}) is None


@pytest.mark.parametrize(
    ("settings", "environment"),
    [
        ({"fs.s3a.encryption.algorithm": "SSE-KMS"}, {}),
        ({"fs.s3a.bucket.b-1.encryption.algorithm": "SSE-C"}, {}),
        ({"fs.s3a.proxy.host": "proxy"}, {}),
        ({"fs.s3a.assumed.role.arn": "arn"}, {}),
        ({"fs.s3a.create.storage.class": "glacier"}, {}),
        ({"fs.s3a.requester.pays.enabled": "true"}, {}),
        ({"fs.s3a.endpoint.fips": "true"}, {}),
        ({"fs.s3a.endpoint.region": ""}, {}),
        ({"fs.s3a.endpoint": "s3.amazonaws.com", "fs.s3a.endpoint.region": ""}, {}),
        ({"hadoop.security.credential.provider.path": "jceks://file/keys"}, {}),
        ({PROVIDER: "com.example.OwnProvider"}, {}),
        ({PROVIDER: f"{OF_AMAZON}.ProfileCredentialsProvider"}, {}),
        ({"fs.s3a.retry.limit": "many"}, {}),
        ({}, {"AWS_SERVER_SIDE_ENCRYPTION": "aws:kms"}),
        ({}, {"AWS_ENDPOINT_URL": "http://elsewhere"}),
        ({}, {"https_proxy": "http://proxy"}),
        ({}, {"HTTPS_PROXY": "http://proxy"}),
    ],
)
def test_what_s3a_alone_knows(settings: dict[str, str], environment: dict[str, str]) -> None:
    assert access(KEYS | HERE) == BY_KEYS
    assert access(KEYS | HERE | settings, **environment) is None
