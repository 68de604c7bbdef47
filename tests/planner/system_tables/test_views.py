"""Rows of ``information_schema`` and ``sys``, made of a metastore's own."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest

from hivesql_planner.model.privileges import Principal
from hivesql_planner.model.table import TableName
from hivesql_planner.system_tables.definitions import system_table
from hivesql_planner.system_tables.views import Viewer, system_rows

DBS = [
    {"db_id": 1, "name": "default", "db_location_uri": "/wh", "owner_name": "admin",
     "owner_type": "ROLE"},
    {"db_id": 2, "name": "ann", "db_location_uri": "/wh/ann.db", "owner_name": "ann",
     "owner_type": "USER"},
    {"db_id": 3, "name": "_hivesql_tmp_12_default", "db_location_uri": "/tmp", "owner_name": "",
     "owner_type": "USER"},
]  # fmt: skip


def tbl(number: int, database: int, name: str, owner: str, view: str | None = None) -> Any:
    return {
        "tbl_id": number, "db_id": database, "sd_id": number * 10, "tbl_name": name,
        "owner": owner, "owner_type": "USER", "tbl_type": "VIRTUAL_VIEW" if view else "T",
        "view_original_text": view, "view_expanded_text": view,
    }  # fmt: skip


TBLS = [tbl(1, 1, "t", "bob"), tbl(2, 1, "v", "bob", "SELECT 1"), tbl(3, 1, "own", "ann"),
        tbl(4, 3, "hidden", "ann")]  # fmt: skip


def priv(table: int, to: str, kind: str, privilege: str, option: int = 0) -> Any:
    return {
        "tbl_id": table, "principal_name": to, "principal_type": kind, "tbl_priv": privilege,
        "grantor": "bob", "grant_option": option,
    }  # fmt: skip


PRIVS = [priv(1, "ann", "USER", "SELECT", 1), priv(1, "carl", "USER", "SELECT"),
         priv(2, "r", "ROLE", "SELECT"), priv(2, "ann", "USER", "INSERT")]  # fmt: skip
CATALOG = {"dbs": DBS, "tbls": TBLS, "tbl_privs": PRIVS}
ANN = Viewer(holders=frozenset({Principal("ann")}))
WITH_ROLE = Viewer(holders=frozenset({Principal("ann"), Principal("r", "ROLE")}))


def rows(name: str, stored: Any, viewer: Viewer, *columns: str) -> list[tuple[Any, ...]]:
    table = system_table(TableName(*name.split(".")))
    assert table is not None
    places = [table.column_names.index(column) for column in columns]
    return [tuple(row[i] for i in places) for row in system_rows(table, stored, viewer)]


@pytest.mark.parametrize(
    ("viewer", "names"),
    [
        (Viewer(), ["t", "v", "own"]),
        (ANN, ["t", "own"]),
        (WITH_ROLE, ["t", "v", "own"]),
        (Viewer(holders=frozenset({Principal("nobody")})), []),
    ],
    ids=["all without privileges", "granted or owned", "by a role too", "nothing"],
)
def test_tables_are_those_that_may_be_read(viewer: Viewer, names: list[str]) -> None:
    assert rows("information_schema.tables", CATALOG, viewer, "table_name") == [
        (name,) for name in names
    ]


def test_a_view_is_told_from_a_table() -> None:
    kinds = ("table_name", "table_type", "is_insertable_into")
    assert rows("information_schema.tables", CATALOG, Viewer(), *kinds) == [
        ("t", "BASE_TABLE", "YES"), ("v", "VIEW", "NO"), ("own", "BASE_TABLE", "YES"),
    ]  # fmt: skip
    columns = ("table_name", "view_definition", "is_updatable")
    assert rows("information_schema.views", CATALOG, Viewer(), *columns) == [
        ("v", "SELECT 1", False)
    ]


def test_schemata_are_those_with_something_to_read_or_of_ones_own() -> None:
    columns = ("schema_name", "schema_owner", "sql_path")
    every = [("default", "admin", "/wh"), ("ann", "ann", "/wh/ann.db")]
    assert rows("information_schema.schemata", CATALOG, Viewer(), *columns) == every
    assert rows("information_schema.schemata", CATALOG, ANN, *columns) == every
    carl = Viewer(holders=frozenset({Principal("carl")}))
    assert rows("information_schema.schemata", CATALOG, carl, *columns) == every[:1]


def test_privileges_of_others_are_not_told() -> None:
    columns = ("table_name", "grantee", "privilege_type", "is_grantable")
    name = "information_schema.table_privileges"
    assert len(rows(name, CATALOG, Viewer(), *columns)) == 4
    assert rows(name, CATALOG, WITH_ROLE, *columns) == [
        ("t", "ann", "SELECT", "YES"), ("v", "r", "SELECT", "NO"), ("v", "ann", "INSERT", "NO"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("type_", "measures"),
    [
        ("int", (None, "10", 10, None, None)),
        ("double", (None, "53", 2, None, None)),
        ("varchar(7)", (7, None, None, None, None)),
        ("char(3)", (3, None, None, None, None)),
        ("decimal(10,2)", (None, "10", 10, "2", None)),
        ("timestamp", (None, None, None, None, 9)),
        ("date", (None, None, None, None, 0)),
        ("array<char(3)>", (None, None, None, None, None)),
    ],
)
def test_columns_tell_lengths_and_digits(type_: str, measures: tuple[Any, ...]) -> None:
    stored = {
        **CATALOG,
        "sds": [{"sd_id": 10, "cd_id": 5}],
        "columns_v2": [
            {"cd_id": 5, "column_name": "b", "type_name": type_, "integer_idx": 1},
            {"cd_id": 5, "column_name": "a", "type_name": "string", "integer_idx": 0},
        ],
    }
    columns = ("character_maximum_length", "numeric_precision", "numeric_precision_radix",
               "numeric_scale", "datetime_precision")  # fmt: skip
    name = "information_schema.columns"
    assert rows(name, stored, Viewer(), *columns)[1] == measures
    assert rows(name, stored, Viewer(), "column_name", "ordinal_position", "dtd_identifier") == [
        ("a", 0, 5), ("b", 1, 5)
    ]  # fmt: skip


def compaction(prefix: str, **values: Any) -> Any:
    keys = (
        "id", "database", "table", "partition", "state", "type", "worker_id", "enqueue_time",
        "start", "end", "run_as", "highest_write_id", "hadoop_job_id", "error_message",
        "next_txn_id", "txn_id", "commit_time", "initiator_id", "initiator_version",
        "worker_version", "cleaner_start", "pool_name", "number_of_buckets", "tblproperties",
    )  # fmt: skip
    return {f"{prefix}_{key}": values.get(key) for key in keys}


def test_compactions_are_the_queue_and_its_history() -> None:
    stored = {
        **CATALOG,
        "compaction_queue": [
            compaction("cq", id=2, database="default", table="t", state="i", type="i",
                       enqueue_time=3_600_000, initiator_id="my-host-7"),
            compaction("cq", id=3, database="default", table="gone", state="w", type="r"),
        ],
        "completed_compactions": [
            compaction("cc", id=1, database="default", table="t", state="s", type="a", start=1000,
                       end=3500, worker_id="h-1", number_of_buckets=4, pool_name="p")
        ],
    }  # fmt: skip
    columns = ("c_id", "c_type", "c_state", "c_enqueue_time", "c_duration", "c_worker_id",
               "c_initiator_host", "c_pool_name", "c_number_of_buckets")  # fmt: skip
    told = [
        (1, "major", "succeeded", None, "2500", "1", None, "p", "4"),
        (2, "minor", "initiated", "1970-01-01 02:00:00", None, None, "my-host", "default", None),
    ]
    zone = Viewer(zone=ZoneInfo("Europe/Berlin"))
    assert rows("sys.compactions", stored, zone, *columns)[:2] == told
    assert rows("information_schema.compactions", stored, zone, *columns) == told
    assert rows("sys.compactions", stored, zone, "c_type", "c_state")[2] == ("rebalance", "working")


def test_transactions_are_told_with_what_they_wrote() -> None:
    txn = {"txn_state": "o", "txn_started": 1000, "txn_last_heartbeat": 2000, "txn_user": "ann",
           "txn_host": "h", "txn_agent_info": None, "txn_meta_info": None,
           "txn_heartbeat_count": 1}  # fmt: skip
    wrote = {"tc_txnid": 7, "tc_database": "default", "tc_table": "t", "tc_partition": None,
             "tc_operation_type": "u", "tc_writeid": 3}  # fmt: skip
    stored = {
        **CATALOG,
        "txns": [{"txn_id": 7, "txn_type": 0, **txn}, {"txn_id": 8, "txn_type": 2, **txn}],
        "txn_components": [wrote, dict(wrote)],
    }
    columns = ("txn_id", "state", "started", "type", "tc_table", "tc_operation_type")
    told = (7, "open", "1970-01-01 00:00:01", "DEFAULT", "t", "UPDATE")
    assert rows("sys.transactions", stored, Viewer(), *columns) == [
        told, (8, "open", "1970-01-01 00:00:01", "READ_ONLY", None, None),
    ]  # fmt: skip
    assert rows("information_schema.transactions", stored, Viewer(), *columns) == [told]


@pytest.mark.parametrize(
    ("type_", "low", "column", "value"),
    [
        ("int", "-3", "long_low_value", -3),
        ("double", "1.5", "double_low_value", 1.5),
        ("decimal(9,2)", "1.50", "big_decimal_low_value", "1.50"),
        ("date", "1970-01-03", "long_low_value", 2),
        ("timestamp", "1970-01-01 00:01:00.5", "long_low_value", 60),
        ("string", None, "long_low_value", None),
    ],
)
def test_statistics_stand_where_their_type_belongs(
    type_: str, low: str | None, column: str, value: Any
) -> None:
    row = {"tbl_id": 1, "column_name": "a", "column_type": type_, "low_value": low,
           "high_value": low, "num_nulls": 2}  # fmt: skip
    stored = {"tab_col_stats": [row]}
    shown = rows("sys.tab_col_stats", stored, Viewer(), column, "num_nulls", "engine")
    assert shown == [(value, 2, "hive")]


def test_a_foreign_key_names_both_sides() -> None:
    def key(**values: Any) -> Any:
        return {"referenced_table": None, "referenced_columns": None, "default_value": None,
                "enable_validate_rely": 1, **values}  # fmt: skip

    stored = {
        **CATALOG,
        "sds": [{"sd_id": 10, "cd_id": 5}, {"sd_id": 30, "cd_id": 6}],
        "columns_v2": [
            {"cd_id": 5, "column_name": "a", "integer_idx": 0},
            {"cd_id": 5, "column_name": "b", "integer_idx": 1},
            {"cd_id": 6, "column_name": "x", "integer_idx": 0},
        ],
        "key_constraints": [
            key(parent_tbl_id=1, constraint_name="pk", constraint_type=0, column_names="a,b"),
            key(parent_tbl_id=3, constraint_name="fk", constraint_type=1, column_names="x",
                referenced_table="default.t", referenced_columns="b"),
        ],
    }  # fmt: skip
    columns = ("constraint_name", "constraint_type", "position", "parent_tbl_id",
               "parent_integer_idx", "child_tbl_id", "child_integer_idx")  # fmt: skip
    assert rows("sys.key_constraints", stored, Viewer(), *columns) == [
        ("pk", "0", 1, 1, 0, None, None),
        ("pk", "0", 2, 1, 1, None, None),
        ("fk", "1", 1, 1, 1, 3, 0),
    ]
