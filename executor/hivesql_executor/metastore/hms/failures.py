"""What a Hive Metastore throws, as errors of ours."""

from __future__ import annotations

import re

from hivesql_planner.errors import (
    CommitUnknown,
    ExecutionError,
    HiveSqlError,
    NoSuchObject,
    SemanticError,
    TransactionLost,
    WriteConflict,
)

UNREACHABLE = 10280
"""Hive's code for a metastore that does not answer, or lets nobody in."""
_NO_SUCH_LOCK = 10270
# What HMSHandler and TxnHandler pass on when their database, or their way to it, fails. What they
# had asked it for may be done: the answer to a COMMIT is lost with the connection too.
_DATABASE_FAILED = re.compile(
    r"\bjava(?:x\.jdo|\.sql)\.|\bJDO\w*Exception\b|\bSQL\w*Exception\b|\bJDBC\b"
    r"|\b(?:transaction|backend) database\b|\borg\.(?:datanucleus|springframework)\."
)
# What it has refused itself, so that all of the call was taken back; or the call never began.
_DATABASE_REFUSED = re.compile(
    r"(?:DuplicateKey|DataIntegrityViolation|BadSqlGrammar|CannotCreateTransaction)Exception"
    r"|\bviolates \w+ constraint\b|\bduplicate key\b"
)
# Methods about one kind of thing, and Hive's codes for "unknown" and "exists" of it.
_TABLE, _DATABASE, _PARTITION = (10001, 10073), (10072, 10242), (10006, 10073)


def failure(method: str, error: Exception, *, again: bool = False) -> HiveSqlError:
    """Return the error for an exception that the metastore answered with.

    Where its database failed, a call that does not do the same ``again`` may have changed some.
    """
    name, message = type(error).__name__, getattr(error, "message", None) or str(error)
    # A server that fails inside of a call answers with TApplicationException.
    has_failed = _DATABASE_FAILED.search(message) and not _DATABASE_REFUSED.search(message)
    if (again and name == "TApplicationException") or has_failed:
        return _failed(method, message, again=again)
    unknown, existing = _codes(method, message)
    match name:
        case "NoSuchObjectException":
            return NoSuchObject(_unknown(message), code=unknown)
        case "AlreadyExistsException":
            return SemanticError(message, code=existing)
        case "InvalidOperationException" | "InvalidObjectException" | "InvalidInputException":
            return _refused(method, message)
        case "NoSuchTxnException":
            return TransactionLost(message, code=10262)
        case "TxnAbortedException":
            # Aborted by its own commit: the write set tells of another committer.
            conflict = "write conflict" in message
            return (
                WriteConflict(message) if conflict else TransactionLost(f"{message}. Run it again")
            )
        case "NoSuchLockException":
            advice = f"{message}. It timed out or was released; run the statement again"
            return ExecutionError(advice, code=_NO_SUCH_LOCK)
        case "TxnOpenException":
            return ExecutionError(f"{message}. Commit or abort the transaction")
    return ExecutionError(f"the metastore refused {method}: {_first_line(message)}")


def _failed(method: str, message: str, *, again: bool) -> HiveSqlError:
    # Whoever passes a lost answer on takes it up to the semicolon.
    first = _first_line(message).replace(";", ",").rstrip(".")
    failed = f"the metastore failed in {method}: {first}"
    if again:
        return ExecutionError(
            f"{failed}. Look into its log and at its database, then run the statement again",
            code=UNREACHABLE,
        )
    return CommitUnknown(
        f"{failed}; the change may or may not have happened. Look into its log and at its "
        "database, and at what is there before running the statement again"
    )


def _first_line(message: str) -> str:
    """Leave Java's trace out, which some messages have behind."""
    return message.strip().partition("\n")[0].strip()


def _codes(method: str, message: str) -> tuple[int, int]:
    if "database" in method or message.lower().startswith("database "):
        return _DATABASE
    return _PARTITION if "partition" in method else _TABLE


def _unknown(message: str) -> str:
    for ending in (" table not found",):
        if message.endswith(ending):
            return f"Table not found: {message.removesuffix(ending).removeprefix('hive.')}"
    if message.startswith("database "):
        return f"Database does not exist: {message.removeprefix('database ').removeprefix('hive.')}"
    return message


def _refused(method: str, message: str) -> HiveSqlError:
    lower = message.lower()
    if "is not empty" in lower:
        advice = f"{message} Drop its tables first, or use DROP DATABASE … CASCADE"
        return SemanticError(advice, code=10042)
    if "already exists" in lower:
        return SemanticError(message, code=_codes(method, message)[1])
    if "doesn't exist" in lower or "does not exist" in lower or "not found" in lower:
        return NoSuchObject(message, code=_codes(method, message)[0])
    return SemanticError(message)
