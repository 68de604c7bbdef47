"""Column statistics after a major compaction: gathered anew where there were any, as in Hive."""

from __future__ import annotations

from hivesql_executor.compaction.unit import Place
from hivesql_executor.metastore.api import Compaction
from hivesql_executor.runtime import Runtime
from hivesql_executor.transactions.object_locks import holding_objects
from hivesql_executor.transactions.transaction import transaction
from hivesql_executor.translate_errors import as_user_errors
from hivesql_planner.model.statistics import statistics_sql
from hivesql_planner.planning import plan
from hivesql_planner.relations import Query, Scan, Source
from hivesql_planner.statements.ddl import Analyze


def gather_again(compaction: Compaction, place: Place, runtime: Runtime) -> None:
    """ANALYZE the columns that have statistics; what goes wrong is told, and spoils nothing."""
    is_enabled = runtime.settings.flag("hive.compactor.gather.stats")
    if compaction.kind != "major" or not is_enabled or place.is_whole_partitioned_table:
        return
    try:
        statement = _analysis(place, runtime)
        if statement is not None:
            _analyze(statement, runtime)
    except Exception as error:  # noqa: BLE001 - the compaction is committed already
        runtime.notify(f"statistics of {compaction.table} were not gathered again: {error}")


def _analyze(statement: Analyze, runtime: Runtime) -> None:
    # Imported late: Spark's modules take a second, and most compactions need none of this.
    from hivesql_executor.spark.column_statistics import analyze

    planned = plan(statement, runtime.settings)
    with (
        as_user_errors(),
        holding_objects(planned, runtime),
        transaction(planned, runtime) as txn,
    ):
        analyze(statement, txn, runtime)


def _analysis(place: Place, runtime: Runtime) -> Analyze | None:
    table, partition = place.table, place.partition
    statistics = runtime.metastore.statistics(table.name, partition.values if partition else None)
    names = {column.name for column in statistics.columns}
    columns = tuple(column for column in table.columns if column.name in names)
    if not columns:
        return None
    partitions = (partition,) if partition else ()
    view = f"compacted_{table.name.database}_{table.name.name}"
    scan = Scan(table=table, partitions=partitions, partition_count=len(partitions))
    query = Query(sql=statistics_sql(table, view, columns), sources=(Source(view=view, scan=scan),))
    return Analyze(table=table, partitions=partitions, query=query, columns=columns)
