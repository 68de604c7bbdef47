"""ALTER TABLE … COMPACT: queue the work, and in an embedded warehouse do it at once."""

from __future__ import annotations

from hivesql_executor.compaction.cleaner import clean
from hivesql_executor.compaction.worker import run_next
from hivesql_executor.outcome import Outcome
from hivesql_executor.runtime import Runtime
from hivesql_planner.errors import ExecutionError, NotSupported, SemanticError
from hivesql_planner.statements import CompactTable
from hivesql_planner.table import partition_name


def request_compaction(statement: CompactTable, runtime: Runtime) -> Outcome:
    """Enqueue one request per unit; run them here unless hivesql.compactor.inline is false.

    A partitioned table without a specification fans out to all its partitions, as in Hive 4.
    """
    table, store = statement.table, runtime.metastore
    if not table.is_transactional:
        raise SemanticError(f"Compaction is not allowed on non-ACID table {table.name}", code=10286)
    if statement.kind == "rebalance":
        raise NotSupported("COMPACT 'rebalance'")
    units: list[str | None] = [None]
    if table.partition_columns:
        partitions = statement.partitions or store.partitions(table.name)
        units = [partition_name(table.partition_names, p.values) for p in partitions]
    messages = []
    for unit in units:
        answer = store.enqueue_compaction(
            table.name, unit, statement.kind, initiator_id=f"{runtime.host}-manual"
        )
        where = f"{table.name}{f'/{unit}' if unit else ''}"
        if not answer.accepted:
            raise ExecutionError(
                f"compaction of {where} was refused: {answer.error}. See SHOW COMPACTIONS",
                code=10432,
            )
        messages.append(f"compaction {answer.id} of {where} enqueued")
        if runtime.settings.flag("hivesql.compactor.inline"):
            done = run_next(runtime, id=answer.id)
            messages[-1] = f"compaction {answer.id} of {where}: {done}"
    if runtime.settings.flag("hivesql.compactor.inline"):
        clean(runtime)
    return Outcome(message="\n".join(messages))
