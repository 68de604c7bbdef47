"""Files of delegation tokens, and logins by them against a server that knows RFC 2831 too."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest

from hivesql_executor.files.refusals import reason_and_remedy
from hivesql_executor.metastore.hms.access.digest import DigestSteps, Rc4, TokenLogin
from hivesql_executor.metastore.hms.access.settings import access
from hivesql_planner.errors import ExecutionError, SemanticError
from hivesql_planner.settings.settings import Settings

HERE = "HADOOP_TOKEN_FILE_LOCATION="
KIND = b"HIVE_DELEGATION_TOKEN"
# Version, owner, renewer, real user, when it was issued and when it ends (2033-05-18).
IDENTIFIER = b"\0\3ann\4yarn\0\1" + b"\x8a\x01\xd1\xa9\x4a\x20\x00"
SECURE = {"hive.metastore.sasl.enabled": "true", "hive.metastore.token.signature": "hms"}


def sized(data: bytes) -> bytes:
    return bytes((len(data),)) + data


TOKEN = sized(IDENTIFIER) + sized(b"secret") + sized(KIND) + sized(b"hms")
WRITABLES = b"HDTS\0\2" + sized(b"other") + b"\0\0\1k\0" + sized(b"hive") + TOKEN + b"\0"


def protobuf() -> bytes:
    parts = enumerate((IDENTIFIER, b"secret", KIND, b"hms"), start=1)
    token = b"".join(bytes((number << 3 | 2,)) + sized(part) for number, part in parts)
    entry = b"\x0a" + sized(b"hive") + b"\x12" + sized(token)
    tokens = b"\x0a" + sized(entry)
    return b"HDTS\1" + sized(tokens)


@pytest.mark.parametrize("data", [WRITABLES, protobuf()], ids=["writables", "protobuf"])
def test_the_metastores_token_of_a_file(
    data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tokens"
    file.write_bytes(data)
    monkeypatch.setenv("HADOOP_TOKEN_FILE_LOCATION", str(file))
    login = access(Settings.of(SECURE)).login
    assert isinstance(login, TokenLogin)
    assert (login.user, login.token.secret) == ("ann", b"secret")
    assert login.describe() == (
        f"of ann, in HADOOP_TOKEN_FILE_LOCATION={file}, renewed until 2033-05-18 03:33 UTC at most"
    )
    # A later connection takes the token that is there then; or the last one, while there is none.
    names = []
    for later in (data, data.replace(IDENTIFIER, IDENTIFIER.replace(b"ann", b"bob")), data[:-3]):
        file.write_bytes(later)
        answer = login.begin("host").step(b'nonce="n",qop="auth"')[1]
        names.append(base64.b64decode(answer.split(b'username="')[1].split(b'"')[0])[2:5])
    assert names == [b"ann", b"bob", b"bob"]
    file.write_bytes(data)
    with pytest.raises(SemanticError, match=r"hive\.metastore\.kerberos\.principal is not set"):
        access(Settings.of({**SECURE, "hive.metastore.token.signature": "another"}))


def test_what_a_refusal_says_of_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A metastore says no more than that it refuses; a name node not even whose it is."""
    file = tmp_path / "tokens"
    monkeypatch.setenv("HADOOP_TOKEN_FILE_LOCATION", str(file))
    file.write_bytes(WRITABLES)
    login = access(Settings.of(SECURE)).login
    assert login is not None
    told = login.refusal("host", "no")
    assert (
        f"token of ann (renewed by yarn, until at most 2033-05-18 03:33 UTC) in {HERE}{file}: no"
        in told
    )
    assert "start the task again" in told
    ended = TOKEN.replace(b"\x8a\x01\xd1\xa9", b"\x8a\x01\x51\xa9").replace(b"\4yarn", b"\0")
    ended = ended.replace(sized(IDENTIFIER)[:1], bytes((len(IDENTIFIER) - 4,)), 1)
    of_hdfs = ended.replace(sized(KIND), sized(b"HDFS_DELEGATION_TOKEN"))
    file.write_bytes(b"HDTS\0\1" + sized(b"name node") + of_hdfs + b"\0")
    refused = "org.apache.hadoop.security.token.SecretManager$InvalidToken: can't be found in cache"
    explained = reason_and_remedy(refused)
    assert explained is not None
    assert explained[1] == (
        f"it knows the delegation token no longer in {HERE}{file}: that of ann (renewed by nobody, "
        "at the latest it has ended at 2015-12-16 05:36 UTC) for hms (can't be found in cache)"
    )
    assert "unset HADOOP_TOKEN_FILE_LOCATION and log in by Kerberos" in explained[2]
    # Where the file has none, or is gone, the rest is said.
    file.unlink()
    explained = reason_and_remedy(refused)
    assert explained is not None and explained[1].endswith("no longer (can't be found in cache)")


@pytest.mark.parametrize("data", [b"", b"HDTS", b"HDTS\7", WRITABLES[:-9], protobuf()[:-3]])
def test_what_is_no_file_of_tokens(
    data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tokens"
    file.write_bytes(data)
    monkeypatch.setenv("HADOOP_TOKEN_FILE_LOCATION", str(file))
    with pytest.raises(SemanticError, match="no file of Hadoop's tokens"):
        access(Settings.of(SECURE))


def test_rc4() -> None:
    cipher = Rc4(b"Key")
    assert (cipher.apply(b"Plain") + cipher.apply(b"text")).hex() == "bbf316e8d940af0ad3"


@pytest.mark.parametrize("layer", ["auth", "auth-int", "auth-conf"])
def test_layers(layer: str) -> None:
    steps = DigestSteps("user", "password")
    challenge = f'realm="default",nonce="n",qop="{layer}",cipher="3des,rc4",algorithm=md5-sess'
    assert f"qop={layer}," in steps.step(challenge.encode())[1].decode() + ","
    sealed = steps.encode(b"message")[1]
    assert (sealed == b"message") == (layer == "auth")
    assert (b"message" in sealed) == (layer != "auth-conf")
    if layer != "auth":
        # What we sent is not what the server signs.
        with pytest.raises(ConnectionError, match="was changed"):
            steps.decode(sealed)
    with pytest.raises(ExecutionError, match="does not know the token's secret"):
        steps.step(b"rspauth=" + hashlib.md5(b"").hexdigest().encode())


@pytest.mark.parametrize(
    ("demanded", "offered", "is_taken"),
    [
        ("", "auth", True),
        ("authentication", "auth", True),
        ("integrity", "auth", False),
        ("integrity", "auth-int", True),
        ("integrity", "auth,auth-conf", True),
        ("privacy", "auth", False),
        ("privacy", "auth-int,auth", False),
        ("privacy,integrity", "auth-int", True),
        ("Privacy, Authentication", "auth", True),
    ],
)
@pytest.mark.parametrize("tls", ["false", "true"])
def test_less_protection_than_the_site_demands_is_refused(
    demanded: str, offered: str, is_taken: bool, tls: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Whoever sits in between could leave away of the server's offer what protects."""
    file = tmp_path / "tokens"
    file.write_bytes(WRITABLES)
    monkeypatch.setenv("HADOOP_TOKEN_FILE_LOCATION", str(file))
    settings = {**SECURE, "hadoop.rpc.protection": demanded, "hive.metastore.use.SSL": tls}
    login = access(Settings.of(settings)).login
    assert login is not None
    steps = login.begin("host")
    challenge = f'nonce="n",qop="{offered}",cipher="rc4"'.encode()
    if is_taken or tls == "true":
        assert b"response=" in steps.step(challenge)[1]
    else:
        with pytest.raises(ExecutionError, match=r"hadoop\.rpc\.protection demands"):
            steps.step(challenge)


def test_a_protection_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "tokens"
    file.write_bytes(WRITABLES)
    monkeypatch.setenv("HADOOP_TOKEN_FILE_LOCATION", str(file))
    with pytest.raises(SemanticError, match="not 'auth-conf'"):
        access(Settings.of({**SECURE, "hadoop.rpc.protection": "auth-conf"}))


def test_a_server_without_rc4() -> None:
    with pytest.raises(ExecutionError, match=r"none is RC4.*hadoop\.rpc\.protection"):
        DigestSteps("u", "p").step(b'nonce="n",qop="auth-conf",cipher="3des,des"')
