"""`hivesql top`: what runs now in a warehouse, and who waits for whom."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hivesql import HiveSqlError, Result, Session, connect
from hivesql.connections import require_metastore
from hivesql_planner.settings.transaction_keys import DB_TXN_MANAGER
from hivesql_repl.arguments import add_connection, command_parser, with_flags
from hivesql_repl.batch import FAILED
from hivesql_repl.configuration import read_profile
from hivesql_repl.output.formats import FORMATS, Style, format_of
from hivesql_repl.output.render import Printer

COLUMNS = (
    "what", "id", "state", "user", "host", "age", "heartbeat", "object", "waits for",
)  # fmt: skip
_TYPES = ("string", "bigint", "string", "string", "string", "bigint", "bigint", "string", "string")
_MOST_OBJECTS = 3
_ENDED = frozenset(("succeeded", "failed", "did not initiate", "refused", "aborted"))
_Row = tuple[Any, ...]
_Named = Mapping[str, str]


def run_top(argv: Sequence[str]) -> int:
    """Show open transactions and queued compactions; ages and silence are in seconds."""
    arguments = _arguments().parse_args(argv)
    profile = with_flags(read_profile(arguments.config, arguments.profile), arguments)
    # What is asked for below is SHOW's own answer, and has to look as it does by default.
    shown = {"hive.ddl.output.format": "text", "hive.txn.manager": DB_TXN_MANAGER}
    printer = Printer(
        format=format_of(arguments.outputformat or profile.outputformat, sys.stdout),
        style=Style(null="NULL" if arguments.outputformat else ""),
        report=False,
    )
    try:
        require_metastore(profile.metastore, profile.settings)
        with connect(
            profile.metastore,
            profile.warehouse,
            settings={**profile.settings, **shown},
            notify=printer.tell,
        ) as session:
            if arguments.once:
                printer.show(ask(session))
                return 0
            from hivesql_repl.shell.watch import refresh

            return 0 if refresh(lambda: ask(session), printer, arguments.every) else FAILED
    except HiveSqlError as error:
        printer.fail(error, None)
        return FAILED


def ask(session: Session) -> Result:
    """Ask the metastore: who waits comes first, then who is oldest, compactions last."""
    now = session.runtime.metastore.now()
    rows = [*_transactions(session, now), *_compactions(session, now)]
    message = None if rows else "nothing runs: no transaction is open, no compaction is queued"
    return Result(
        statement="top", columns=COLUMNS, types=_TYPES, rows=rows, value=rows, message=message
    )


def _named(session: Session, statement: str) -> list[_Named]:
    result = session.sql(statement)
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def _transactions(session: Session, now: int) -> list[_Row]:
    open_ones = {
        row["txnid"]: row
        for row in _named(session, "SHOW TRANSACTIONS")
        if row["state"] == "OPEN"
    }  # fmt: skip
    objects: dict[str, list[str]] = defaultdict(list)
    owners: dict[str, str] = {}
    blockers: dict[str, str] = {}
    for lock in _named(session, "SHOW LOCKS"):
        txn_id = lock["transaction_id"]
        owners[lock["lockid"]] = txn_id
        parts = (lock["database"], lock["table"], lock["partition"])
        place = ".".join(part for part in parts if part != "NULL")
        objects[txn_id].append(f"{place} {lock['lock_type']}")
        if lock["lock_state"] == "WAITING":
            blockers.setdefault(txn_id, lock["blocked_by"].strip())
    rows = [
        (
            "transaction", int(txn_id), "waiting" if txn_id in blockers else "open",
            row["user"], row["host"], _seconds(now, row["startedtime"]),
            _seconds(now, row["lastheartbeattime"]), _shortened(objects[txn_id]),
            _blocker(blockers.get(txn_id), owners, open_ones),
        )
        for txn_id, row in open_ones.items()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (row[2] != "waiting", row[1]))


def _blocker(
    lock_id: str | None, owners: Mapping[str, str], transactions: Mapping[str, _Named]
) -> str | None:
    """Name the transaction whose lock is waited for; None where none is."""
    if lock_id is None:
        return None
    txn_id = owners.get(lock_id)
    if txn_id is None:
        return f"lock {lock_id}" if lock_id else "others"
    owner = transactions.get(txn_id)
    return f"transaction {txn_id}" + (f" ({owner['user']}@{owner['host']})" if owner else "")


def _shortened(objects: Sequence[str]) -> str:
    more = len(objects) - _MOST_OBJECTS
    return ", ".join([*objects[:_MOST_OBJECTS], *([f"{more} more"] if more > 0 else [])])


def _compactions(session: Session, now: int) -> Iterator[_Row]:
    for row in reversed(_named(session, "SHOW COMPACTIONS")):
        if row["state"] in _ENDED:
            continue
        parts = [row["dbname"], row["tabname"]]
        place = ".".join(parts + ([row["partname"]] if row["partname"].strip() != "---" else []))
        since = row["starttime"] if row["state"] == "working" else row["enqueuetime"]
        host = row["workerhost"].strip()
        yield (
            f"{row['type'].lower()} compaction", int(row["compactionid"]), row["state"], None,
            None if host == "---" else host, _seconds(now, since), None, place, None,
        )  # fmt: skip


def _seconds(now: int, moment: str) -> int | None:
    return max(0, (now - int(moment)) // 1000) if moment.strip().isdigit() else None


def _arguments() -> argparse.ArgumentParser:
    parser = command_parser("hivesql top", run_top.__doc__)
    parser.add_argument("--once", action="store_true", help="show it once, for scripts")
    parser.add_argument(
        "--every", type=_interval, default=2.0, metavar="SECONDS", help="how often (default: 2)"
    )
    parser.add_argument("--outputformat", choices=sorted(FORMATS), metavar="FORMAT",
                        help=", ".join(sorted(FORMATS)))  # fmt: skip
    add_connection(parser)
    return parser


def _interval(text: str) -> float:
    from hivesql_repl.shell.watch import LONGEST, SHORTEST

    try:
        every = float(text)
    except ValueError:
        every = 0.0
    if not SHORTEST <= every <= LONGEST:
        raise argparse.ArgumentTypeError(
            f"seconds between {SHORTEST:g} and {LONGEST:g} are wanted, not {text!r}"
        )
    return every
