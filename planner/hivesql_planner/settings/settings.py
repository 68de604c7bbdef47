"""Every setting, read in one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from hivesql_planner.errors import SemanticError
from hivesql_planner.settings.compactor_keys import (
    ALIASES_OF_COMPACTOR,
    COMPACTOR_KEYS,
    COMPACTOR_WITHOUT_EFFECT,
)
from hivesql_planner.settings.connection_keys import (
    ALIASES_OF_CONNECTIONS,
    CONNECTION_KEYS,
)
from hivesql_planner.settings.durations import read_duration
from hivesql_planner.settings.file_system_keys import HIDDEN, HIDDEN_LIST
from hivesql_planner.settings.retention import RETENTION, read_retention
from hivesql_planner.settings.setting import Kind, Row, Setting
from hivesql_planner.settings.transaction_keys import (
    ALIASES_OF_TRANSACTIONS,
    DB_TXN_MANAGER,
    DUMMY_TXN_MANAGER,
    TRANSACTION_KEYS,
    TRANSACTION_KEYS_WITHOUT_EFFECT,
)

DEFAULT_NAME = "hive.exec.default.partition.name"
MOST_DYNAMIC = "hive.exec.max.dynamic.partitions"
TABLE_TYPE_MAPPING = "hive.server2.table.type.mapping"
LOGS_OPERATIONS = "hive.server2.logging.operation.enabled"
LOG_LEVEL = "hive.server2.logging.operation.level"
FETCH_SIZE = "hive.server2.thrift.resultset.default.fetch.size"
NULLS_LAST = "hive.default.nulls.last"
_CHOICES = {
    TABLE_TYPE_MAPPING: ("CLASSIC", "HIVE"),
    LOG_LEVEL: ("NONE", "EXECUTION", "PERFORMANCE", "VERBOSE"),
}
"""What a text may be, in any case of its letters."""
_ALIASES: Mapping[str, str] = {
    "metastore.default.partition.name": DEFAULT_NAME,
    "mapred.output.compression.codec": "mapreduce.output.fileoutputformat.compress.codec",
    "mapred.output.compression.type": "mapreduce.output.fileoutputformat.compress.type",
    **ALIASES_OF_COMPACTOR,
    **ALIASES_OF_CONNECTIONS,
    **ALIASES_OF_TRANSACTIONS,
}


def _table(*rows: Row) -> dict[str, Setting]:
    return {row[0]: Setting(*row) for row in rows}


def _without_effect(row: Row) -> Row:
    meaning = f"No effect here. In Hive: {row[3]}"
    return (*row[:3], meaning, row[4]) if len(row) == 5 else (*row[:3], meaning)


_WITHOUT_EFFECT: tuple[Row, ...] = (
    ("hive.acid.createtable.softdelete", "false", "bool",
     "DROP TABLE leaves the directory to the cleaner."),
    ("hive.acid.droppartition.usebase", "false", "bool", "DROP PARTITION writes an empty base."),
    ("hive.acid.renamepartition.makecopy", "false", "bool", "RENAME PARTITION copies."),
    ("hive.unlock.numretries", "10", "int", "how often to try to unlock; here it is certain.",
     "attempts"),
    ("hive.exec.orc.default.block.padding", "true", "bool", "stripes keep within blocks of HDFS."),
    ("hive.exec.orc.block.padding.tolerance", "0.05", "float", "how much padding that may take.",
     "share of a stripe"),
    ("hive.exec.orc.default.block.size", "268435456", "int", "the blocks of HDFS for ORC files.",
     "bytes"),
    ("hive.mm.allow.originals", "false", "bool", "insert-only tables read original files."),
    ("hive.strict.checks.bucketing", "true", "bool",
     "LOAD DATA into bucketed tables distributes the rows."),
    ("hive.transactional.concatenate.noblock", "false", "bool",
     "CONCATENATE does not wait for its compaction."),
    *COMPACTOR_WITHOUT_EFFECT,
    *TRANSACTION_KEYS_WITHOUT_EFFECT,
)  # fmt: skip


KEYS: Mapping[str, Setting] = _table(
    *TRANSACTION_KEYS,
    *COMPACTOR_KEYS,
    ("hive.exec.dynamic.partition", "true", "bool", "Allow dynamic partitions."),
    ("hive.exec.dynamic.partition.mode", "nonstrict", "text",
     "strict demands at least one static partition column."),
    (MOST_DYNAMIC, "0", "int",
     "In how many partitions a statement may write that its rows name, before it fails; 0: in any "
     "number. Hive's own default is 1000.",
     "partitions"),
    ("hive.optimize.sort.dynamic.partition.threshold", "0", "int",
     "INSERT gathers the rows of dynamic partitions in few tasks: -1 never, 1 always, 0 when its "
     "first rows are of many partitions, another number when they are of more than that.",
     "partitions"),
    (DEFAULT_NAME, "__HIVE_DEFAULT_PARTITION__", "text",
     "What the partition of rows without a value is called that dynamic partitions make."),
    ("hive.exec.drop.ignorenonexistent", "true", "bool",
     "DROP of a table, view or partition that is not there is no error."),
    ("hive.constraint.notnull.enforce", "true", "bool", "Enforce NOT NULL constraints."),
    ("hive.merge.cardinality.check", "true", "bool",
     "MERGE fails when two source rows match one target row."),
    ("hive.create.as.acid", "false", "bool", "Plain ORC tables become full ACID."),
    ("hive.create.as.insert.only", "false", "bool", "Plain tables become insert-only."),
    ("hive.default.fileformat", "textfile", "text", "What tables without STORED AS are stored as."),
    ("hive.default.fileformat.managed", "none", "text",
     "The same for tables that are not external; none: as hive.default.fileformat says."),
    ("hive.exec.orc.default.compress", "ZLIB", "text",
     "How ORC files of tables without orc.compress are: NONE, ZLIB, SNAPPY, LZO, LZ4, ZSTD; not "
     "set, and with a metastore of ours, ZSTD."),
    ("hivesql.orc.uncompressed.max", "16384", "int",
     "Up to this size of their values, files of fewer than 1,024 rows of full ACID tables are not "
     "compressed, where neither the table nor SET orc.compress names a codec; 0: all are.",
     "bytes"),
    ("hive.exec.orc.default.stripe.size", "67108864", "int",
     "Their stripes, of tables without orc.stripe.size.", "bytes"),
    ("hive.exec.orc.default.buffer.size", "262144", "int",
     "What is compressed at a time, of tables without orc.compress.size.", "bytes"),
    ("hive.exec.orc.default.row.index.stride", "10000", "int",
     "What an entry of their index covers, of tables without orc.row.index.stride.", "rows"),
    ("hive.default.rcfile.serde",
     "org.apache.hadoop.hive.serde2.columnar.LazyBinaryColumnarSerDe", "text",
     "What RCFiles of new tables hold; …columnar.ColumnarSerDe: texts."),
    ("hive.exec.compress.output", "false", "bool",
     "Rows that are written into SequenceFiles and RCFiles are compressed."),
    ("mapreduce.output.fileoutputformat.compress.codec",
     "org.apache.hadoop.io.compress.DefaultCodec", "text", "By which class of Hadoop's they are."),
    ("mapreduce.output.fileoutputformat.compress.type", "RECORD", "text",
     "What of a SequenceFile is compressed at a time: RECORD, BLOCK, or NONE."),
    (HIDDEN_LIST, ",".join(HIDDEN), "text",
     "Settings that SET does not show: whose names begin like one of these. Secrets of file "
     "systems are not shown whatever it says; a session cannot change it."),
    ("hivesql.local.places", "", "text",
     "Directories of this machine, a,b, below which statements may name places (LOCATION, INPATH, "
     "DIRECTORY, schemas), beside the databases' own; empty: everywhere. A session cannot change "
     "it."),
    ("hive.query.timeout.seconds", "0s", "duration",
     "What a statement may take that a client runs at a server; 0: for ever."),
    (FETCH_SIZE, "1000", "int",
     "How many rows a client of the server asks for at a time that does not choose: Hive's JDBC "
     "driver takes it from the answer to its login, so it counts where it is given to the server.",
     "rows"),
    ("hive.table.parameters.default", "", "text", "Properties of new tables: a=b,c=d."),
    ("hive.ddl.createtablelike.properties.whitelist", "", "text",
     "The properties that CREATE TABLE … LIKE takes over: a,b."),
    ("hive.display.partition.cols.separately", "true", "bool",
     "DESCRIBE lists partition columns a second time, under a heading."),
    ("hive.metastore.partition.inherit.table.properties", "", "text",
     "The properties of their table that new partitions take over: a,b, or * for all."),
    ("hive.decode.partition.name", "false", "bool",
     "SHOW PARTITIONS tells values as they are, not as directories are called."),
    ("hive.ddl.output.format", "text", "text",
     "json: SHOW and DESCRIBE of databases, tables and partitions give one line of JSON."),
    ("hive.local.time.zone", "LOCAL", "text",
     "The zone of current_timestamp, unix_timestamp, from_unixtime and of TIMESTAMP WITH LOCAL "
     "TIME ZONE; LOCAL is UTC."),
    ("hive.datetime.formatter", "DATETIME", "text",
     "SIMPLE: patterns of date_format, from_unixtime, unix_timestamp, to_unix_timestamp and "
     "add_months are those of Java's SimpleDateFormat, as before Hive 4."),
    ("hive.masking.algo", "sha256", "text",
     "sha512: mask_hash gives that digest of a text; anything else is sha256, as in Hive."),
    (NULLS_LAST, "true", "bool",
     "NULLs come last when ascending and first when descending; false is the other way round."),
    ("hive.map.aggr", "true", "bool", "false refuses CUBE, ROLLUP and GROUPING SETS, as Hive."),
    ("hive.groupby.skewindata", "false", "bool",
     "true refuses aggregates of several DISTINCTs, as Hive."),
    ("hive.new.job.grouping.set.cardinality", "30", "int",
     "At most so many grouping sets beside DISTINCT, or with hive.groupby.skewindata.",
     "grouping sets"),
    ("hive.merge.size.per.task", "256000000", "int", "CONCATENATE makes files of so many bytes.",
     "bytes"),
    ("hive.archive.enabled", "false", "bool",
     "Without it ARCHIVE is Hive's error 10107, with it not supported."),
    ("hive.insert.into.external.tables", "true", "bool", "INSERT takes external tables."),
    ("hive.strict.managed.tables", "false", "bool", "Managed tables must be transactional."),
    ("metastore.strict.managed.tables", "false", "bool", "The same."),
    ("hive.metastore.disallow.incompatible.col.type.changes", "true", "bool",
     "false: ALTER TABLE gives columns types that their values do not convert to."),
    ("metastore.disallow.incompatible.col.type.changes", "true", "bool", "The same."),
    ("hive.typecheck.on.insert", "true", "bool",
     "false: PARTITION COLUMN gives types that values of partitions do not convert to."),
    ("metastore.create.as.acid", "false", "bool", "As hive.create.as.acid."),
    ("hive.groupby.position.alias", "false", "bool",
     "A number in GROUP BY is the position of a select item."),
    ("hive.groupby.orderby.position.alias", "false", "bool",
     "A number in either of them is, as an older name of these two says."),
    ("hive.orderby.position.alias", "true", "bool",
     "A number in ORDER BY is the position of a select item."),
    ("hive.support.quoted.identifiers", "column", "text",
     "none: a quoted name in a select list is a regular expression; standard: names in \"…\" too."),
    ("hive.support.special.characters.tablename", "true", "bool",
     "Names of tables may have printable ASCII characters, in back quotes."),
    ("hive.strict.checks.type.safety", "true", "bool",
     "No comparison of BIGINT or DECIMAL with text, nor of BIGINT with DOUBLE."),
    ("hive.strict.checks.orderby.no.limit", "false", "bool",
     "No ORDER BY without LIMIT, but in subqueries of FROM."),
    ("hive.strict.checks.no.partition.filter", "false", "bool",
     "No query of a partitioned table without a filter of partition columns."),
    ("hive.strict.checks.cartesian.product", "false", "bool",
     "No join without an equality between its sides."),
    ("hive.mapred.mode", "", "text",
     "strict makes all hive.strict.checks, anything else none; not set: each as it says itself."),
    ("hive.strict.timestamp.conversion", "true", "bool",
     "No casts between numbers and DATE or TIMESTAMP."),
    ("hive.int.timestamp.conversion.in.seconds", "false", "bool",
     "CAST of whole numbers to TIMESTAMP takes seconds, not milliseconds; writes never do."),
    ("hive.acid.lockless.reads.enabled", "false", "bool", "Readers take no locks."),
    ("hive.acid.truncate.usebase", "true", "bool", "TRUNCATE writes an empty base."),
    ("hive.stats.autogather", "true", "bool",
     "Writes keep the number of rows true; without it, it is not called accurate any more."),
    ("hive.stats.column.autogather", "true", "bool",
     "INSERT into a table, or into one partition that it names, measures columns as it writes."),
    ("hivesql.stats.column.max.bytes", "0", "int",
     "So many bytes of its sources an INSERT reads by Spark at most if it measures columns.",
     "bytes"),
    ("hive.cli.print.header", "true", "bool",
     "The command line prints the names of columns above rows."),
    ("hive.resultset.use.unique.column.names", "true", "bool",
     "A server calls columns t.i that a query takes by * or as t.i, and not i."),
    (TABLE_TYPE_MAPPING, "CLASSIC", "text",
     "Kinds of tables as a server tells them to drivers: CLASSIC (TABLE, VIEW) or HIVE "
     "(MANAGED_TABLE, EXTERNAL_TABLE, VIRTUAL_VIEW)."),
    (LOGS_OPERATIONS, "true", "bool", "A server keeps the log of a statement for its client."),
    (LOG_LEVEL, "EXECUTION", "text",
     "How much of it: NONE, or EXECUTION, PERFORMANCE and VERBOSE, which are one here."),
    *CONNECTION_KEYS,
    ("hive.metastore.event.db.listener.timetolive", "86400s", "duration",
     "How long the notification log is kept."),
    ("hivesql.metastore.cache", "false", "bool",
     "Keep tables and lists of partitions in memory; counts when a session is opened."),
    ("hive.metastore.cached.rawstore.cached.object.whitelist", ".*", "text",
     "Tables that may be kept in memory: regular expressions of db.table, separated by commas."),
    ("hive.metastore.cached.rawstore.cached.object.blacklist", "", "text",
     "Tables that are never kept in memory, whatever the whitelist says."),
    ("hivesql.metastore.cache.max.tables", "10000", "int",
     "So many tables are kept in memory; the least used go.", "tables"),
    ("hivesql.metastore.cache.max.partitions", "200000", "int",
     "So many partitions, of all tables together, are kept in memory.", "partitions"),
    # Keys that Hive's scripts and sites set: known, checked, and without effect here.
    *map(_without_effect, _WITHOUT_EFFECT),
    ("hive.security.authorization.enabled", "false", "bool",
     "Every statement asks whether the session's user has the privileges that it needs."),
    ("hive.security.authorization.manager",
     "org.apache.hadoop.hive.ql.security.authorization.plugin.sqlstd.SQLStdHiveAuthorizerFactory",
     "text", "Whose rules these are: Hive's SQL-standard mode alone is known here."),
    ("hive.users.in.admin.role", "", "text",
     "Users, separated by commas, who may act as administrators: they SET ROLE ADMIN."),
    ("hivesql.compactor.inline", "true", "bool",
     "ALTER TABLE … COMPACT runs the compaction and the cleaner before it returns."),
    ("hivesql.idempotency.retention", "30d", "duration",
     "How long idempotency keys are remembered; those of streams always are."),
    ("hivesql.retention", "", "text",
     "How long, or how many, earlier versions of tables stay readable after compactions: 7d, "
     "'10 versions', or both with a comma. A table's property of this name counts before it."),
    ("hivesql.history.retention", "30d", "duration",
     "How long DESCRIBE HISTORY tells of a write, and FOR SYSTEM_TIME AS OF knows its time."),
    ("hivesql.deletes.broadcast.max", "4000000", "int",
     "Up to this many 64-row words of delete events each executor keeps those of a partition; "
     "above it each task reads those of its own rows.", "words of 64 rows"),
    ("hivesql.scan.filter.min", "200000", "int",
     "Scans of at least this many rows decode what their filter does not need only for rows that "
     "pass it; -1: none does, and write ids are decoded even where footers tell them.", "rows"),
    ("hivesql.merge.source.max.bytes", "67108864", "int",
     "A MERGE's source that is read from files as it is, and takes more bytes in memory, is read "
     "twice; all others are computed once, and kept until the statement ends.", "bytes"),
    ("hivesql.merge.keys.max", "1000000", "int",
     "Up to this many keys of a MERGE's source are looked for in the target as it is read; "
     "0: all of the target is read and joined.", "keys"),
    ("hivesql.merge.keys.listed.max", "400", "int",
     "Up to this many different values of such a key leave out the target's files and row groups "
     "none of them is in; above it, and with 0, their least and greatest do.", "values"),
    ("hivesql.local.max.bytes", "16777216", "int",
     "Simple INSERT … VALUES, UPDATE and DELETE over at most this many bytes run without Spark; "
     "0 sends all of them to Spark.", "bytes"),
    ("hivesql.local.source.max", "5000", "int",
     "A MERGE whose source has at most this many rows looks for their matches without Spark, if "
     "few row groups may hold them; 0: never.", "rows"),
    ("hivesql.listing.max.files", "100000", "int",
     "So many files of transactional tables a process remembers, of directories that no writer "
     "adds to any more: each is listed once. 0: none.", "files"),
)  # fmt: skip
# A misspelt key of these families would silently change nothing.
_CLOSED = ("hive.txn.", "hive.lock.", "hive.locks.", "hive.unlock.", "hive.compactor.",
           "metastore.compactor.", "hive.compaction.")  # fmt: skip
LOCAL_PLACES = "hivesql.local.places"
UNIQUE_NAMES = "hive.resultset.use.unique.column.names"
AUTHORIZATION = "hive.security.authorization.enabled"
AUTHORIZATION_MANAGER = "hive.security.authorization.manager"
RESTRICTED = (AUTHORIZATION, AUTHORIZATION_MANAGER, "hive.users.in.admin.role")
"""What a session that was opened with authorization cannot change."""
_SQL_STANDARD = ("SQLStdHiveAuthorizerFactory", "SQLStdHiveAuthorizerFactoryForTest")
_OURS = ("hive.", "hivesql.", "metastore.")
_WAREHOUSE = "--warehouse, or warehouse= of connect, says where a new metastore has its tables"
_METASTORE = "--metastore, or metastore= of connect, says where the metastore is"
_PLACES = {
    "hive.metastore.warehouse.dir": _WAREHOUSE,
    "metastore.warehouse.dir": _WAREHOUSE,
    "javax.jdo.option.ConnectionURL": _METASTORE,
}
"""What Hive is told in settings, and we otherwise."""


def present_name(key: str) -> str:
    """Return the name that a key goes by here, for an older or a metastore's own name of Hive's."""
    return _ALIASES.get(key, key)


def notice_about(key: str) -> str | None:
    """Tell what to tell whoever sets a key that changes nothing; None where all is well.

    Only keys that look like ours or Hive's: others are the user's own variables.
    """
    key = key.strip().removeprefix("hiveconf:")
    if not key.startswith((*_OURS, *_PLACES)) or present_name(key) in KEYS:
        return None
    return f"{key} is unknown here and has no effect{_better(key)}"


def _better(key: str) -> str:
    """Say which key may have been meant."""
    if key in _PLACES:
        return f": {_PLACES[key]}"
    # Imported late: hardly any start needs it.
    from difflib import get_close_matches

    meant = get_close_matches(key, KEYS, n=1, cutoff=0.9)
    return f"; did you mean {meant[0]}?" if meant else ""


@dataclass(frozen=True, slots=True)
class Settings:
    """The values in force; a key that is not set has its default."""

    values: Mapping[str, str] = field(default_factory=dict, hash=False)

    def text(self, key: str) -> str:
        """Return the value as it was written; unknown keys without a value are errors."""
        key = present_name(key)
        if key in self.values:
            return self.values[key]
        if key in KEYS:
            return KEYS[key].default
        raise SemanticError(f"unknown setting {key}")

    def flag(self, key: str) -> bool:
        """Return the value of a yes-or-no setting."""
        text = self.text(key).strip().lower()
        if text not in ("true", "false"):
            raise SemanticError(f"{key} must be true or false, not {text!r}")
        return text == "true"

    @property
    def asks_for_privileges(self) -> bool:
        """Tell whether Hive's SQL-standard mode is switched on."""
        manager = self.text(AUTHORIZATION_MANAGER).strip()
        return self.flag(AUTHORIZATION) and manager.rpartition(".")[2] in _SQL_STANDARD

    def integer(self, key: str) -> int:
        """Return the value of a whole-number setting."""
        try:
            return int(self.text(key))
        except ValueError:
            raise SemanticError(f"{key} must be a number, not {self.text(key)!r}") from None

    def number(self, key: str) -> float:
        """Return the value of a setting that may have a fraction."""
        try:
            # Java, which reads them in Hive, takes a letter for the number's type.
            return float(re.sub(r"(?<=[\d.])[fFdD]$", "", self.text(key).strip()))
        except ValueError:
            raise SemanticError(f"{key} must be a number, not {self.text(key)!r}") from None

    def seconds(self, key: str) -> float:
        """Read a duration such as ``300s``, ``100ms``, ``5m``; its default has the usual unit."""
        usual = KEYS[present_name(key)].usual_unit
        seconds = read_duration(self.text(key), usual)
        if seconds is None:
            raise SemanticError(f"{key} must be a duration like 300s, not {self.text(key)!r}")
        return seconds

    def with_value(self, key: str, value: str) -> Settings:
        """Give the same settings with one changed; the value is checked against the key's kind."""
        key = present_name(key)
        changed = replace(self, values={**self.values, key: value})
        setting = KEYS.get(key)
        if setting is None:
            if key.startswith(_CLOSED):
                raise SemanticError(f"unknown setting {key}: SET -v lists them all{_better(key)}")
            return changed
        if key == "hive.txn.manager" and value not in (DB_TXN_MANAGER, DUMMY_TXN_MANAGER):
            raise SemanticError(
                f"{key} must be {DB_TXN_MANAGER} or {DUMMY_TXN_MANAGER}, not {value!r}", code=10261
            )
        if key == RETENTION:
            read_retention(value)
        changed._check(setting)
        if value.strip().upper() not in (choices := _CHOICES.get(key, (value.strip().upper(),))):
            raise SemanticError(f"{key} must be {' or '.join(choices)}, not {value!r}")
        return changed

    @classmethod
    def of(cls, values: Mapping[str, str]) -> Settings:
        """Make settings with these values, each of them checked."""
        settings = cls()
        for key, value in values.items():
            settings = settings.with_value(key, value)
        return settings

    def _check(self, setting: Setting) -> None:
        read: dict[Kind, Callable[[str], object]] = {
            "bool": self.flag, "int": self.integer, "float": self.number,
            "duration": self.seconds, "text": self.text,
        }  # fmt: skip
        read[setting.kind](setting.name)
