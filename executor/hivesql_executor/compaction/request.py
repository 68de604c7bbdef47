"""ALTER TABLE … COMPACT: queue the work, and in an embedded warehouse do it at once."""

from __future__ import annotations

from hivesql_executor.compaction.aborts import clean_aborted
from hivesql_executor.compaction.cleaner import clean
from hivesql_executor.compaction.initiator import decide_kind
from hivesql_executor.compaction.worker import release_dead, run_next
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_planner.compaction import Kind
from hivesql_planner.compaction_queue import INITIATED, WORKING, Compaction
from hivesql_planner.errors import ExecutionError, SemanticError
from hivesql_planner.initiator import Candidate
from hivesql_planner.statements import AbortCompactions, CompactTable
from hivesql_planner.table import partition_name

_FIRST_PAUSE = 2.0


def request_compaction(statement: CompactTable, runtime: Runtime) -> Outcome:
    """Enqueue one request per unit; run them here unless hivesql.compactor.inline is false.

    Of a partitioned table without a specification those partitions are compacted that the
    initiator would choose, each as it would, as in Hive 4.
    """
    table = statement.table
    if not table.is_transactional:
        raise SemanticError(f"Compaction is not allowed on non-ACID table {table.name}", code=10286)
    inline = runtime.settings.flag("hivesql.compactor.inline")
    if inline:
        release_dead(runtime)
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
    table = statement.table
    answer = runtime.metastore.enqueue_compaction(
        table.name,
        unit,
        kind,
        initiator_id=f"{runtime.host}-manual",
        details=statement.details,
        run_as=runtime.user,
    )
    if not answer.accepted:
        where = f"{table.name}{f'(partition={unit})' if unit else ''}"
        raise ExecutionError(
            f"Compaction request for {where} is refused, details: {answer.error}. "
            "See SHOW COMPACTIONS",
            code=10432,
        )
    message = f"Compaction enqueued with id {answer.id}"
    if runtime.settings.flag("hivesql.compactor.inline"):
        return f"{message}: {run_next(runtime, id=answer.id) or 'another worker took it'}"
    if statement.wait:
        return f"{message}\n{_wait(answer.id, runtime)}"
    return message


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
            told = ("Error", "No Such Compaction Id Available")
        elif state == INITIATED:
            told = ("Success", "Successfully aborted compaction")
        else:
            told = ("Error", f"Error while aborting compaction as compaction is in state-{state}")
        rows.append((str(id_), *told))
    return Outcome.of_table(["compactionid", "status", "message"], rows)
