"""A process that changes its own table and reads those of all: URL, own table, all tables, rounds.

Prints how many reads were answered from memory; ends with an error when an answer is too old.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from hivesql_executor.metastore.cache.metastore import CachingMetastore
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_planner.model.table import Table, TableName


def age(table: Table) -> int:
    return int(table.comment or 0)


def act(url: str, own: TableName, tables: list[TableName], rounds: int) -> int:
    back = DatabaseMetastore.open(url, "/wh")
    host = CachingMetastore(back)
    seen = dict.fromkeys(tables, 0)
    for number in range(1, rounds + 1):
        (txn_id,) = back.open_txns(1, "ann", "here")
        back.allocate_write_id(txn_id, own)
        if number % 3 == 0:
            altered = replace(back.table(own), comment=str(number))
            back.alter_table(own, altered, txn_id=txn_id)
        if number % 5 == 0:
            back.abort_txns([txn_id], "test")
        else:
            back.commit_txn(txn_id)
        for name in tables:
            least = max(seen[name], age(back.table(name)))
            seen[name] = age(host.table(name))
            assert seen[name] >= least, f"{name}: {seen[name]} after {least}"
            asked = back.table_ids(back.valid_txns(), [name])[name]
            found = age(host.get_table(name.database, name.name, *asked))
            assert found >= least, f"{name} of {asked}: {found} after {least}"
    assert age(host.table(own)) == rounds // 3 * 3
    back.close()
    return host.counters.hits


if __name__ == "__main__":
    address, mine, others, count = sys.argv[1:]
    names = [TableName("default", one) for one in others.split(",")]
    sys.stdout.write(str(act(address, TableName("default", mine), names, int(count))))
