"""What a Hive Metastore throws, as errors of ours."""

from __future__ import annotations

from hivesql_planner.errors import (
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
# Methods about one kind of thing, and Hive's codes for "unknown" and "exists" of it.
_TABLE, _DATABASE, _PARTITION = (10001, 10073), (10072, 10242), (10006, 10073)


def failure(method: str, error: Exception) -> HiveSqlError:
    """Return the error for an exception that the metastore answered with."""
    name, message = type(error).__name__, getattr(error, "message", None) or str(error)
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
    return ExecutionError(f"the metastore refused {method}: {message}")


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
