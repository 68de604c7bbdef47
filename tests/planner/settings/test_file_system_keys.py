"""Which settings are nobody's to read, and which go to Hadoop's file systems."""

from __future__ import annotations

import pytest

from hivesql_planner.settings.file_system_keys import (
    HIDDEN,
    cover_secret,
    cover_secrets,
    is_secret,
    spark_name,
    without_secrets,
)
from hivesql_planner.settings.settings import KEYS

SECRET = """
    fs.s3a.access.key fs.s3a.secret.key fs.s3a.session.token fs.s3a.bucket.sales.secret.key
    fs.s3a.bucket.sales.session.token fs.s3a.proxy.password fs.s3a.encryption.key
    fs.s3a.server-side-encryption.key fs.azure.account.key.me.dfs.core.windows.net
    fs.azure.account.oauth2.client.secret.me fs.azure.sas.c.me.blob.core.windows.net
    fs.azure.sas.fixed.token fs.gs.auth.service.account.private.key fs.s3n.awsSecretAccessKey
    spark.hadoop.fs.s3a.secret.key hiveconf:fs.s3a.secret.key spark.authenticate.secret
    hiveconf:spark.hadoop.fs.s3a.bucket.b.access.key javax.jdo.option.ConnectionPassword
    hive.server2.keystore.password env:AWS_SECRET_ACCESS_KEY env:AWS_SESSION_TOKEN
"""
SHOWN = """
    fs.s3a.endpoint fs.s3a.aws.credentials.provider fs.s3a.bucket.b.endpoint.region
    fs.s3a.assumed.role.arn fs.azure.account.auth.type fs.azure.account.oauth.provider.type
    hadoop.security.credential.provider.path env:HOME env:AWS_PROFILE hivevar:password
    password my.secret hive.txn.timeout spark.driver.memory
"""


@pytest.mark.parametrize("key", SECRET.split())
def test_secrets(key: str) -> None:
    assert is_secret(key, ",".join(HIDDEN))
    assert is_secret(key)


@pytest.mark.parametrize("key", SHOWN.split())
def test_what_is_shown(key: str) -> None:
    assert not is_secret(key, ",".join(HIDDEN))


def test_the_list_hides_what_begins_like_one_of_it() -> None:
    assert is_secret("fs.s3a.endpoint", "x, fs.s3a.end ,")
    assert without_secrets({"a.b": "1", "a.c": "2"}, "a.b") == {"a.c": "2"}


def test_no_setting_of_ours_is_hidden() -> None:
    assert without_secrets(dict.fromkeys(KEYS, ""), ",".join(HIDDEN)) == dict.fromkeys(KEYS, "")


COVERED = {
    "SET fs.s3a.secret.key=abc": "SET fs.s3a.secret.key=***",
    "set\n hiveconf:fs.s3a.secret.key = a = b ": "set\n hiveconf:fs.s3a.secret.key = ***",
    "SET fs.s3a.endpoint=http://here": "SET fs.s3a.endpoint=http://here",
    "SELECT 'SET fs.s3a.secret.key=abc'": "SELECT 'SET fs.s3a.secret.key=abc'",
}


@pytest.mark.parametrize(("statement", "shown"), COVERED.items())
def test_statements_are_shown_without_secrets(statement: str, shown: str) -> None:
    assert cover_secret(statement) == shown


COVERED_IN_TEXTS = {
    "CREATE TABLE t TBLPROPERTIES ('jdbc.password' = 'a''b', \"my.secret\"=\"x\", 'a'='b')":
        "CREATE TABLE t TBLPROPERTIES ('jdbc.password' = '***', \"my.secret\"='***', 'a'='b')",
    "UPDATE users SET password = 'hunter2', name = 'bob' WHERE `api_secret`='x'":
        "UPDATE users SET password = '***', name = 'bob' WHERE `api_secret`='***'",
    "SELECT aes_encrypt(concat('x', f('y')), concat('1234', lower('56'))), 'z'":
        "SELECT aes_encrypt(concat('x', f('y')), concat('***', lower('***'))), 'z'",
    "SELECT aes_decrypt(aes_encrypt('x', 'k1'), 'k2') = 'x' AND v IN ('a', 'b')":
        "SELECT aes_decrypt(aes_encrypt('x', '***'), '***') = 'x' AND v IN ('a', 'b')",
    "INSERT INTO t VALUES ('s3a://AKIA:SE/CRET@bucket/p', 's3a://bucket/p@q', 'http://h:80/p')":
        "INSERT INTO t VALUES ('s3a://***@bucket/p', 's3a://bucket/p@q', 'http://h:80/p')",
    "SELECT 'jdbc:mysql://h/db?user=me&password=pw&x=1', 'a; Pwd=b;c', 'the password is known'":
        "SELECT 'jdbc:mysql://h/db?user=me&password=***&x=1', 'a; Pwd=***;c', "
        "'the password is known'",
    "SELECT a.secret = b.secret, token = 5, ')' FROM t)) -- it's 'over":
        "SELECT a.secret = b.secret, token = 5, ')' FROM t)) -- it's 'over",
}  # fmt: skip


@pytest.mark.parametrize(("statement", "shown"), COVERED_IN_TEXTS.items())
def test_texts_are_shown_without_secrets(statement: str, shown: str) -> None:
    assert cover_secrets(statement) == shown


@pytest.mark.parametrize(
    "piece", ["a", "'://a:", "://a:", "aes_encrypt(", "pwd", "'", "a='", "password="]
)
def test_long_texts_are_covered_in_little_time(piece: str) -> None:
    for text in (piece * 20_000, f"'{piece * 20_000}'"):
        assert len(cover_secrets(text)) <= len(text)


def test_names_among_those_of_spark() -> None:
    names = ["fs.s3a.endpoint", "dfs.nameservices", "hive.txn.timeout", "spark.driver.memory"]
    assert [*map(spark_name, names)] == [
        "spark.hadoop.fs.s3a.endpoint", "spark.hadoop.dfs.nameservices", *names[2:],
    ]  # fmt: skip
