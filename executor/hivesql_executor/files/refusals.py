"""What file systems refuse, Hadoop's and this machine's, as errors that say what to do."""

from __future__ import annotations

import errno
import os
import re

from hivesql_executor.impersonation.token_file import TOKEN_FILE, tokens_of_task
from hivesql_planner.errors import ExecutionError, SemanticError

# What a file system of Hadoop refuses: the class of the exception and what it says.
_REFUSED = re.compile(
    r"\b(?:org\.apache\.hadoop\.\S*?\b"
    r"|java\.nio\.file\.(?=AccessDeniedException: .*?(?:s3|amazon)))"
    r"(\w+)Exception\)?: *(?=(.*))"
)
# A class of Hadoop's that is not called an exception.
_BAD_TOKEN = re.compile(r"org\.apache\.hadoop\.\S*?\$(InvalidToken)\)?: *(.*)")
_KIND_OF_TOKEN = "HDFS_DELEGATION_TOKEN"
_NO_CONNECTOR = re.compile(r"Class org\.apache\.hadoop\.fs\.(s3a|azurebfs|gs)\.\S+ not found")
_CONNECTORS = {"s3a": "hadoop-aws", "azurebfs": "hadoop-azure", "gs": "hadoop-gcp"}
SHORTER_NAME = "Choose a shorter name, or shorter values of partition columns"
NEEDS_RIGHT = "Give yourself the right to it, or choose another place"
_GIVE_KEYS = (
    "Give credentials: fs.s3a.access.key and fs.s3a.secret.key, fs.s3a.aws.credentials.provider, "
    "or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
)
_RIGHT_KEYS = (
    "Correct the credentials: fs.s3a.access.key and fs.s3a.secret.key, or what "
    "fs.s3a.aws.credentials.provider looks for"
)
_RIGHT_REGION = "Set fs.s3a.endpoint.region to the bucket's region"
# What a store says in an answer of which Hadoop makes a refusal of rights.
_BY_CODE = {
    "SignatureDoesNotMatch": _RIGHT_KEYS,
    "InvalidAccessKeyId": _RIGHT_KEYS,
    "InvalidToken": _RIGHT_KEYS,
    "ExpiredToken": "Renew the credentials, whose time is over (fs.s3a.session.token)",
    "RequestTimeTooSkewed": "Set this machine's clock: it differs from the store's",
    "PermanentRedirect": _RIGHT_REGION,
    "AuthorizationHeaderMalformed": _RIGHT_REGION,
    "IllegalLocationConstraintException": _RIGHT_REGION,
    "Client cannot authenticate via": "Log in by Kerberos: kinit, or set spark.kerberos.principal "
    "and spark.kerberos.keytab before Spark starts",
}
_CODE = re.compile("|".join(_BY_CODE))
_BY_STORE = {
    **_BY_CODE,
    "AccessDenied": NEEDS_RIGHT,
    "AllAccessDisabled": NEEDS_RIGHT,
    "NoSuchBucket": "Make the bucket, or correct its name and fs.s3a.endpoint",
    "EntityTooLarge": "Write fewer rows at once",
}
# The same in other stores; their keys and addresses are other settings.
_OF_AZURE = "the account's key: fs.azure.account.key.ACCOUNT, or fs.azure.sas.fixed.token.ACCOUNT"
_OF_OTHERS = {
    "gs": {
        "AccessDenied": NEEDS_RIGHT,
        "NoSuchBucket": "Make the bucket, or correct its name and fs.gs.storage.root.url",
    },
    "abfs": {
        "AuthenticationFailed": f"Correct {_OF_AZURE}",
        "AuthorizationFailure": NEEDS_RIGHT,
        "AuthorizationPermissionMismatch": NEEDS_RIGHT,
        "ContainerNotFound": "Make the container, or correct its name",
    },
}
_GIVE = {"gs": "Give credentials: fs.gs.auth.type", "abfs": f"Give {_OF_AZURE}"}
_ADDRESSES = {"gs": "fs.gs.storage.root.url", "abfs": "the account's name"}
_MISSING_BUCKET = re.compile("<Code>(?:NoSuchBucket|ContainerNotFound)")
_CODE_OF_STORE = re.compile(r"<Code>(\w+)</Code>")
_STATUS = re.compile(r"status code: (\d+[^:\n]*)")
_REDIRECT = "redirect without LOCATION"
"""What the client says of the answer of another region."""
_KEY_OF_NO_PATH = re.compile(
    r'object with invalid path: .*?Path "(.*?)"(?= contained|: )', re.DOTALL
)
_NO_KEYS = re.compile(r"169\.254\.|credential|security token|CredentialProvider", re.IGNORECASE)
_REMEDIES = {
    "PathComponentTooLong": SHORTER_NAME,
    "AccessControl": NEEDS_RIGHT,
    "AccessDenied": NEEDS_RIGHT,
    "Authorization": "Let whoever logs in act for that user, in the name node's core-site.xml: "
    "hadoop.proxyuser.LOGIN.hosts, and .users or .groups; or correct hivesql.proxy.user",
    "NoAuthWithAWS": _GIVE_KEYS,
    "NoAwsCredentials": _GIVE_KEYS,
    "UnknownStore": "Make the bucket, or correct its name and fs.s3a.endpoint",
    "AWSRedirect": _RIGHT_REGION,
    "MaxDirectoryItemsExceeded": "Make fewer partitions in one directory, or raise "
    "dfs.namenode.fs-limits.max-directory-items",
    "NSQuotaExceeded": "Make room in the directory's quota of names, then run it again",
    "DSQuotaExceeded": "Make room in the directory's quota of space, then run it again",
    "QuotaByStorageTypeExceeded": "Make room in the directory's quota, then run it again",
    "SafeMode": "Wait until the name node takes writes (hdfs dfsadmin -safemode wait), then run it "
    "again",
    "Standby": "Name the active name node, or the name service (dfs.nameservices)",
}
_AGAIN = "Run the statement again"
PASSING = {
    errno.EAGAIN, errno.EINTR, errno.ETIMEDOUT, errno.ECONNREFUSED, errno.ECONNRESET,
    errno.ECONNABORTED, errno.EPIPE, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EBUSY,
    errno.ESTALE,
}  # fmt: skip
"""Numbers of errors of the system that another try may not meet."""
_HELP = {
    errno.ENOSPC: "Make room on that disk, then run the statement again",
    errno.EDQUOT: "Make room in your quota, then run the statement again",
    errno.EROFS: "Choose a place that can be written, or mount it so",
    errno.EACCES: NEEDS_RIGHT,
    errno.EPERM: NEEDS_RIGHT,
    errno.ENAMETOOLONG: SHORTER_NAME,
    errno.EMFILE: "Raise the limit of open files (ulimit -n), then run the statement again",
    errno.ENFILE: "Close other programs, then run the statement again",
    errno.EIO: "Look at the disk: the system's log says more",
    errno.ENOENT: "Put it back, or name another one",
    errno.EEXIST: "Take it away, or name another one",
    errno.EISDIR: "A file is wanted there",
    errno.ENOTDIR: "A directory is wanted there",
}
# Why the system loads no library, beside what it refuses of other files.
_OF_LIBRARIES = {
    errno.ENOENT: "Install the library that it needs",
    errno.ENOMEM: "Give the process more memory",
}


class PlaceTaken(ExecutionError):
    """Something is where a file or directory was to be moved; nothing of it was moved."""


def refusal_of(report: str) -> ExecutionError | None:
    """Return the error for what a file system refused; None if the report tells of no refusal.

    ``report`` is the text of a Java exception with its causes. Retryable where only the moment was
    wrong.
    """
    explained = reason_and_remedy(report)
    if explained is None:
        return None
    kind, reason, remedy = explained
    refusal = ExecutionError(f"the file system refused it: {reason}. {remedy}", code=40000)
    refusal.retryable = kind == "SafeMode"
    return refusal


def is_bucket_missing(error: Exception) -> bool:
    """Tell whether a store says that not a file, but all of its place is missing."""
    return _MISSING_BUCKET.search(str(error)) is not None


def refusal_of_store(path: str, report: str) -> ExecutionError:
    """Return the error for a request that an object store refused, by its client's report.

    Retryable where only the moment was wrong.
    """
    if odd := _KEY_OF_NO_PATH.search(report):
        return _refusal_of_name(path, odd[1])
    first = report.partition("\n")[0]
    scheme = "abfs" if path.startswith("abfs") else path.partition(":")[0]
    code, status = _CODE_OF_STORE.search(report), _STATUS.search(report)
    remedy = _OF_OTHERS.get(scheme, _BY_STORE).get(code[1]) if code else None
    if remedy is None and status and status[1].startswith("403"):
        # The answer to a HEAD says no more.
        remedy = NEEDS_RIGHT
    if remedy is None and _NO_KEYS.search(first):
        remedy = _GIVE.get(scheme, _GIVE_KEYS)
    if remedy is None and _REDIRECT in first and scheme not in _OF_OTHERS:
        remedy = _RIGHT_REGION
    if remedy is not None:
        reason = code[1] if code else first
        return ExecutionError(f"the file system refused it: {path}: {reason}. {remedy}", code=40000)
    reason = ", ".join(filter(None, (status and status[1].strip(), code and code[1]))) or first
    failure = ExecutionError(
        f"{path} cannot be reached: {reason}. Run the statement again; where that does not help, "
        f"check {_ADDRESSES.get(scheme, 'fs.s3a.endpoint')} and the store",
        code=40000,
    )
    failure.retryable = True
    return failure


def _refusal_of_name(path: str, key: str) -> ExecutionError:
    """Return the error for a list with a name that is no path; files of tables have none such."""
    return ExecutionError(
        f"{path} cannot be listed: the store has {key!r} there, whose name has an empty part, '.', "
        "'..' or a control character, as no file of a table has. Delete or rename it by the "
        "store's own tools",
        code=40000,
    )


def refusal_of_no_store(path: str) -> ExecutionError:
    """Return the error for an address where something answers that is no object store."""
    return ExecutionError(
        f"{path} cannot be reached: what answers there does not speak S3, as a page of the "
        "web does not. Correct fs.s3a.endpoint and fs.s3a.path.style.access, or look for a "
        "proxy in between",
        code=40000,
    )


def refusal_of_too_much(path: str, length: int) -> ExecutionError:
    """Return the error for an answer that goes on after the bytes that were asked for."""
    return ExecutionError(
        f"{path} cannot be reached: what answers there sends more than the {length} bytes that "
        "were asked for, as no store does. Look for a proxy in between, and check the store",
        code=40000,
    )


def refusal_of_repetition(path: str, name: str) -> ExecutionError:
    """Return the error for a list whose pages come again, and would for ever."""
    return ExecutionError(
        f"{path} cannot be listed: what answers there names {name} again and again, as no store "
        "does. Look for a proxy in between, and check the store",
        code=40000,
    )


def refusal_of_no_end(path: str, seconds: float) -> ExecutionError:
    """Return the error for a list that names nothing for so long.

    Its pages may be empty, or come byte by byte: from outside both look alike.
    """
    return ExecutionError(
        f"{path} cannot be reached: after {seconds:g} seconds the answer still comes byte by byte, "
        "or page after page without a name. Look for a proxy in between, and check the store",
        code=40000,
    )


def reason_and_remedy(report: str) -> tuple[str, str, str] | None:
    """Return the kind of a refusal, why it was, and what to do; None for no refusal."""
    if match := _BAD_TOKEN.search(report):
        return match[1], *_reason_and_remedy_of_token(match[2].strip().rstrip("."))
    for kind, why in reversed(_REFUSED.findall(report)):
        code = _CODE.search(why)
        if kind in _REMEDIES or (code and kind.startswith("AWS")):
            remedy = _BY_CODE[code[0]] if code else _REMEDIES[kind]
            return kind, why.rstrip(". "), remedy
    return None


def _reason_and_remedy_of_token(answer: str) -> tuple[str, str]:
    """Say which tokens the name node may not know, as it tells neither owner nor renewer."""
    tokens = tokens_of_task(_KIND_OF_TOKEN)
    which = ", ".join(f"that {token.describe()} for {token.service}" for token in tokens)
    source = f" in {TOKEN_FILE}={os.environ[TOKEN_FILE]}: {which}" if tokens else ""
    return (
        f"it knows the delegation token no longer{source} ({answer})",
        "It has ended, as nobody renewed it, or was cancelled: start the task again, which gives "
        f"it a new one, or unset {TOKEN_FILE} and log in by Kerberos (kinit, or "
        "spark.kerberos.principal and spark.kerberos.keytab) before Spark starts",
    )


def missing_connector(report: str, version: str) -> SemanticError | None:
    """Return the error for a file system whose jar Spark has not; None if it is not for that.

    ``version`` is that of Spark's Hadoop.
    """
    match = _NO_CONNECTOR.search(report)
    if match is None:
        return None
    return SemanticError(
        f"Spark has no jar with {match[0].split()[1]}. Set spark.jars.packages to "
        f"org.apache.hadoop:{_CONNECTORS[match[1]]}:{version} before it starts"
    )


def remedy_of_system(error: OSError) -> str:
    """Say what helps against an error of this machine's system."""
    passing = error.errno in PASSING or isinstance(error, (ConnectionError, TimeoutError))
    return _HELP.get(error.errno or 0, _AGAIN if passing else "Look at it")


def remedy_of_loading(reason: str, package: str) -> str:
    """Say what helps where a package is there and Python cannot load it; ``reason`` is its own."""
    for number, remedy in {**_HELP, **_OF_LIBRARIES}.items():
        if os.strerror(number) in reason:
            return remedy
    from importlib.metadata import packages_distributions

    distribution = packages_distributions().get(package, [package])[0]
    return f"Install it anew, for this Python: pip install --force-reinstall '{distribution}'"
