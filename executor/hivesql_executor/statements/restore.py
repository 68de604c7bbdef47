"""What RESTORE asks of a table beyond what reading its earlier state does."""

from __future__ import annotations

from hivesql_executor.snapshot.time_travel import visible_as_of
from hivesql_executor.statements.context import Work
from hivesql_planner.errors import NotSupported
from hivesql_planner.transactional_plans import scans


def require_same_row_ids(work: Work) -> None:
    """Refuse a state before a rebalance, which gives rows the ids that others have had.

    While that state can be read, its files are not cleaned, so that the rebalance is still told of.
    """
    earlier = [scan for scan in scans(work.plan.body) if scan.as_of is not None]
    rebalances = [row for row in work.runtime.metastore.compactions() if row.kind == "rebalance"]
    for scan in earlier if rebalances else ():
        assert scan.as_of is not None
        table = scan.table.name
        then = visible_as_of(scan.as_of, table, work.txn, work.runtime)
        for row in rebalances:
            highest = row.highest_write_id or 0
            if row.table == table and row.txn_id and not then.sees(highest):
                raise NotSupported(
                    f"RESTORE of {table} as of {scan.as_of}: compaction {row.id}, a rebalance of "
                    f"its writes up to {highest}, gave its rows other ids since. Read the state by "
                    "FOR SYSTEM_VERSION AS OF and INSERT OVERWRITE the table with it"
                )
