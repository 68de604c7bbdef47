"""ALTER TABLE … COMPACT: queue the work, and in an embedded warehouse do it at once."""

from __future__ import annotations

from hivesql_executor.compaction.aborts import clean_aborted
from hivesql_executor.compaction.cleaner import clean
from hivesql_executor.compaction.initiator import decide_kind
from hivesql_executor.compaction.worker import release_abandoned, run_next
from hivesql_executor.metastore.api import CompactionAnswer
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_executor.statement_log import working
from hivesql_executor.transactions.reaper import reap
from hivesql_planner.compaction.decide import Kind
from hivesql_planner.compaction.initiator import Candidate
from hivesql_planner.compaction.queue import INITIATED, WORKING, Compaction
from hivesql_planner.errors import ExecutionError, SemanticError
from hivesql_planner.model.table import partition_name
from hivesql_planner.statements.bound import AbortCompactions, CompactTable

_FIRST_PAUSE = 2.0
_TAKEN = "another worker took it"


def request_compaction(statement: CompactTable, runtime: Runtime) -> Outcome:
    """Enqueue one request per unit; run them here unless hivesql.compactor.inline is false.

    What has been queued for these units before, or was left by a process that died, is run first.
    Of a partitioned table without a specification those partitions are compacted that the
    initiator would choose, each as it would, as in Hive 4.
    """
    table = statement.table
    if not table.is_transactional:
        raise SemanticError(f"Compaction is not allowed on non-ACID table {table.name}", code=10286)
    inline = runtime.settings.flag("hivesql.compactor.inline")
    if inline:
        reap(runtime)
        release_abandoned(runtime)
        clean(runtime)
    chosen = [partition_name(table.partition_names, p.values) for p in statement.partitions]
    if table.partition_columns and not chosen:
        messages = _fan_out(statement, runtime)
    else:
        unit = chosen[0] if chosen else None
        messages = [_request(statement, unit, statement.kind, runtime)]
    if inline:
        clean(runtime)
        clean_aborted(runtime)
    return Outcome(message="\n".join(messages))


def _fan_out(statement: CompactTable, runtime: Runtime) -> list[str]:
    table = statement.table
    messages = []
    for partition in runtime.metastore.partitions(table.name):
        name = partition_name(table.partition_names, partition.values)
        candidate = Candidate(table=table.name, partition=name)
        kind = decide_kind(candidate, table, partition.location, runtime)
        if kind is None:
            messages.append(
                f"Not enough deltas to initiate compaction for table={table.name.name} "
                f"partition={name}"
            )
        else:
            messages.append(_request(statement, name, kind, runtime))
    return messages


def _request(statement: CompactTable, unit: str | None, kind: Kind, runtime: Runtime) -> str:
    inline = runtime.settings.flag("hivesql.compactor.inline")
    answer = _enqueue(statement, unit, kind, runtime)
    messages: list[str] = []
    while inline and not answer.accepted and (queued := _queued(statement, unit, runtime)):
        # No service may ever run, and this request would be refused as long as that one waits.
        ended = _run_here(queued.id, runtime)
        messages.append(f"Compaction {queued.id}, which was queued before: {ended}")
        if _does_as_much(queued, statement, kind):
            return "\n".join(messages)
        clean(runtime)
        answer = _enqueue(statement, unit, kind, runtime)
    if not answer.accepted:
        where = f"{statement.table.name}{f'(partition={unit})' if unit else ''}"
        raise ExecutionError(
            f"Compaction request for {where} is refused, details: {answer.error}. "
            "See SHOW COMPACTIONS",
            code=10432,
        )
    message = f"Compaction enqueued with id {answer.id}"
    if inline:
        return "\n".join((*messages, f"{message}: {_run_here(answer.id, runtime)}"))
    if statement.wait:
        return f"{message}\n{_wait(answer.id, runtime)}"
    return message


def _run_here(id_: int, runtime: Runtime) -> str:
    with working():
        return run_next(runtime, id=id_) or _TAKEN


def _enqueue(
    statement: CompactTable, unit: str | None, kind: Kind, runtime: Runtime
) -> CompactionAnswer:
    return runtime.metastore.enqueue_compaction(
        statement.table.name,
        unit,
        kind,
        initiator_id=f"{runtime.host}-manual",
        details=statement.details,
        run_as=runtime.user,
    )


def _queued(statement: CompactTable, unit: str | None, runtime: Runtime) -> Compaction | None:
    """Return the request for this unit that nobody has taken."""
    here = (statement.table.name.lower(), unit)
    rows = runtime.metastore.compactions()
    return next((row for row in rows if row.unit == here and row.state == INITIATED), None)


def _does_as_much(queued: Compaction, statement: CompactTable, kind: Kind) -> bool:
    details = statement.details
    requested = (kind, dict(details.properties), details.bucket_count, details.order_text)
    return (queued.kind, dict(queued.properties), queued.bucket_count, queued.order) == requested


def _wait(id_: int, runtime: Runtime) -> str:
    """Look again and again, with pauses that double, until the request is worked off."""
    longest = runtime.settings.seconds("hive.compactor.wait.timeout")
    pause = _FIRST_PAUSE
    while True:
        runtime.clock.sleep(min(pause, longest))
        runtime.check_cancelled()
        pause *= 2
        row = _find(id_, runtime)
        if row is None:
            return f"Compaction with id {id_} is no longer known"
        if row.state not in (INITIATED, WORKING):
            return f"Compaction with id {id_} finished with status: {row.state}"
        runtime.notify(f"Waiting for compaction {id_}, which is {row.state}")


def _find(id_: int, runtime: Runtime) -> Compaction | None:
    return next((row for row in runtime.metastore.compactions() if row.id == id_), None)


def abort_compactions(statement: AbortCompactions, runtime: Runtime) -> Outcome:
    """ABORT COMPACTIONS: only what no worker has taken can be taken back."""
    rows = []
    for id_, state in runtime.metastore.abort_compactions(statement.ids).items():
        if state is None:
            answer = ("Error", "No Such Compaction Id Available")
        elif state == INITIATED:
            answer = ("Success", "Successfully aborted compaction")
        else:
            answer = ("Error", f"Error while aborting compaction as compaction is in state-{state}")
        rows.append((str(id_), *answer))
    return Outcome.of_table(["compactionid", "status", "message"], rows)
