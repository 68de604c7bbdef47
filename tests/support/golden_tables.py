"""The tables of the golden warehouses, the files that hold them and the rows that Hive showed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivesql_executor.files.local import LocalFiles
from hivesql_executor.snapshot.listing import acid_state
from hivesql_executor.snapshot.partition_files import PartitionFiles, PlainFile
from hivesql_executor.spark.scan.plain_tables import scan_plain
from hivesql_executor.spark.scan.scan import ScanRequest, scan
from hivesql_planner.acid.files_to_read import files_to_read
from hivesql_planner.acid.write_ids import ALL_TXNS, NONE_OPEN, ValidWriteIdList
from hivesql_planner.model.table import Column, Partition, Table, TableName, parse_partition_name
from tables import ACID, INSERT_ONLY, parsed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GOLDEN = Path(__file__).parents[1] / "golden"
FILES = LocalFiles()
# Hive rolled these writes back; everything else was committed.
ABORTED = {"k_aborted": frozenset({2, 3})}
_ENDS = r"partitioned by|clustered by|stored as|tblproperties|location"
_CREATE = re.compile(rf"create table (\w+)(?: \((.*?)\))? *(?=(?:{_ENDS})\b)(.*)", re.DOTALL)
_WRITES = re.compile(
    r"(?:insert (?:into|overwrite)(?: table)?|into table|update|delete from|merge into"
    r"|truncate table|alter table(?= \w+ drop\b)) (\w+)"
)
_ADD = re.compile(r"alter table (\w+) add columns \((.*)\)$")
_RENAME = re.compile(r"alter table (\w+) change (\w+) (\w+) (\S+)$")
_SELECT = re.compile(r"select (?:row__id, )?(?:\w+\.)?\*.* from (\w+)$")
_FILE_COLUMN = re.compile(r", regexp_replace\(input__file__name.*?\) f\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenTable:
    """One table in one state of a golden warehouse."""

    warehouse: str
    stage: str
    table: Table
    rows: tuple[dict[str, str], ...] | None
    """What Hive showed: texts by column name, ``row__id`` among them; None when it did not."""

    def __str__(self) -> str:
        return f"{self.warehouse}/{self.stage}/{self.table.name.name}"

    @property
    def visible(self) -> ValidWriteIdList:
        return ValidWriteIdList(NONE_OPEN, aborted=ABORTED.get(self.warehouse, frozenset()))

    def roots(self) -> list[tuple[Partition | None, str]]:
        """Every directory that holds data, with its partition."""
        home = Path(self.table.location)
        if not self.table.partition_columns:
            return [(None, str(home))]
        found = home.glob("/".join("*=*" for _ in self.table.partition_columns))
        return [
            (Partition(values=parse_partition_name(str(one.relative_to(home))), location=str(one)),
             str(one))
            for one in sorted(found)
        ]  # fmt: skip

    def parts(self) -> list[PartitionFiles]:
        """The files that a reader of everything committed needs."""
        return [
            PartitionFiles(
                partition=partition,
                location=location,
                files=files_to_read(
                    acid_state(FILES, location, self.visible, ALL_TXNS),
                    self.visible,
                    insert_only=self.table.is_insert_only,
                ),
            )
            for partition, location in self.roots()
        ]

    def read(
        self,
        spark: SparkSession,
        *,
        with_row_id: bool = True,
        filter_rows: int = 0,
    ) -> DataFrame:
        """The table as the product reads it; row ids only where the table has them."""
        if self.table.is_full_acid:
            request = ScanRequest(
                table=self.table,
                parts=self.parts(),
                visible=self.visible,
                files=FILES,
                with_row_id=with_row_id,
                filter_rows=filter_rows,
            )
            return scan(spark, request).rows
        if self.table.is_insert_only:
            found = [
                (part.partition, part.location,
                 [PlainFile(f"{part.location}/{file.path}", file.length)
                  for file in part.files.data])
                for part in self.parts()
            ]  # fmt: skip
        else:
            found = [
                (partition, location,
                 [PlainFile(f"{location}/{file.path}", file.length)
                  for file in FILES.list(location)])
                for partition, location in self.roots()
            ]  # fmt: skip
        return scan_plain(spark, self.table, found, files=FILES)


def shown(frame: DataFrame) -> list[dict[str, str]]:
    """Rows as Hive prints them, but times with microseconds only: texts by column name."""
    texts = [
        frame[name].cast("string").alias(name)
        if kind in ("timestamp", "timestamp_ntz", "float", "double")
        else frame[name]
        for name, kind in frame.dtypes
    ]
    rows = frame.select(*texts).collect()
    kinds = dict(frame.dtypes)
    return [
        {name: hive_text(_scaled(value, kinds[name])) for name, value in row.asDict().items()}
        for row in rows
    ]


def _scaled(value: Any, kind: str) -> Any:
    """Spark hands 1E-10 to Python as 1.00E-10: the same number under another scale."""
    if not isinstance(value, Decimal):
        return value
    scale = int(kind.rstrip(")").rpartition(",")[2])
    return value.quantize(Decimal(1).scaleb(-scale), context=Context(prec=40))


def as_we_show(row: dict[str, str]) -> dict[str, str]:
    """A row of Hive's in our terms: times cut to microseconds."""
    cut = {name: re.sub(r"(:\d\d\.\d{6})\d+(?=$|\")", r"\1", text) for name, text in row.items()}
    return {name: text.replace('"C":', '"c":') for name, text in cut.items()}


def hive_text(value: Any) -> str:
    """One value as Hive prints it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case float():
            return "NaN" if math.isnan(value) else str(value).replace("inf", "Infinity")
        case Decimal():
            return format(value, "f")
        case bytes() | bytearray():
            return bytes(value).decode("utf-8", errors="replace")
        case tuple() | list() | dict():
            return _nested_text(value)
    return str(value)


def _nested_text(value: Any) -> str:
    """Hive's JSON: keys of maps as they are, binaries bare."""
    match value:
        case tuple() if hasattr(value, "asDict"):
            fields = value.asDict().items()
            return "{" + ",".join(f'"{key}":{_nested_text(one)}' for key, one in fields) + "}"
        case list():
            return "[" + ",".join(map(_nested_text, value)) + "]"
        case dict():
            pairs = sorted((_nested_text(key), _nested_text(one)) for key, one in value.items())
            return "{" + ",".join(f"{key}:{one}" for key, one in pairs) + "}"
        case None:
            return "null"
        case bool() | int() | float() | Decimal() | bytes() | bytearray():
            return hive_text(value)
    return json.dumps(str(value), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class _Step:
    """A statement of a script, and the rows it printed."""

    statement: str
    rows: tuple[dict[str, str], ...] = ()


def golden_tables() -> tuple[GoldenTable, ...]:
    """Every table of every stage of every golden warehouse that has files."""
    return tuple(
        one for path in sorted(GOLDEN.iterdir()) if path.is_dir() for one in _tables_of(path)
    )


def _tables_of(warehouse: Path) -> Iterator[GoldenTable]:
    steps = list(_steps((warehouse / "output.txt").read_text("utf-8", errors="replace")))
    places = {"final": len(steps)}
    for place, step in enumerate(steps):
        if step.statement.startswith("!copy warehouse "):
            places[step.statement.split()[-1]] = place
    for stage, place in sorted(places.items()):
        for home in sorted((warehouse / stage).iterdir()):
            table = _table(steps, home, converted=stage != "stage1_non_acid")
            rows = _rows_around(steps, home.name, place)
            yield GoldenTable(warehouse=warehouse.name, stage=stage, table=table, rows=rows)
            if stage == "stage1_non_acid":
                # The same files are what the table holds after its conversion.
                acid = _table(steps, home, converted=True)
                yield GoldenTable(warehouse=warehouse.name, stage=stage, table=acid, rows=rows)


def _steps(output: str) -> Iterator[_Step]:
    for block in re.split(r"^>> ", output, flags=re.MULTILINE)[1:]:
        statement, _, rest = block.partition("\n")
        body = re.split(r"^-- (?:ok|ERROR)", rest, flags=re.MULTILINE)[0]
        if not body.startswith("## "):
            yield _Step(statement)
            continue
        header, *lines = body[3:].removesuffix("\n").split("\n")
        names = [name.rpartition(".")[2].lower() for name in header.split("\t")]
        # \x0c and the like stand in values, so only real line ends count.
        rows = tuple(dict(zip(names, line.split("\t"), strict=True)) for line in lines)
        yield _Step(statement, rows)


def _rows_around(steps: list[_Step], name: str, place: int) -> tuple[dict[str, str], ...] | None:
    """What a select showed with no write into the table between it and that place."""
    before = range(place - 1, -1, -1)
    after = range(place, len(steps))
    shown: list[tuple[dict[str, str], ...]] = []
    for places in (before, after):
        for at in places:
            statement = steps[at].statement
            if _wrote(statement, name):
                break
            select = _SELECT.fullmatch(_FILE_COLUMN.sub("", statement))
            if select and select[1] == name:
                shown.append(steps[at].rows)
    with_ids = [rows for rows in shown if rows and "row__id" in rows[0]]
    found = with_ids or shown
    return found[0] if found else None


def _wrote(statement: str, name: str) -> bool:
    failed = statement.startswith("[error expected]")
    return not failed and (
        name in _WRITES.findall(statement) or statement.startswith(f"create table {name} ")
    )


def _table(steps: list[_Step], home: Path, *, converted: bool) -> Table:
    """The table's definition, from the statement that made it."""
    found = (_CREATE.match(step.statement) for step in steps)
    created = next(one for one in found if one and one[1] == home.name)
    columns, rest = created[2], created[3]
    if columns is None:  # CREATE TABLE … AS SELECT id, v
        columns = "id int, v string"
    partitioned = re.search(r"partitioned by \((.*?)\) (?:clustered|stored)", rest)
    stored = re.search(r"stored as (\w+)", rest)
    properties = INSERT_ONLY if "insert_only" in rest else ACID
    conversion = f"alter table {home.name} set tblproperties ('transactional'='true')"
    converted = converted and any(step.statement == conversion for step in steps)
    if "'transactional'='false'" in rest and not converted:
        properties = {}
    return Table(
        name=TableName("default", home.name),
        columns=_altered(parsed(_one_line(columns)), home.name, steps),
        partition_columns=parsed(_one_line(partitioned[1])) if partitioned else (),
        location=str(home),
        format=stored[1] if stored else "textfile",  # type: ignore[arg-type]
        properties=properties,
    )


def _altered(columns: tuple[Column, ...], name: str, steps: list[_Step]) -> tuple[Column, ...]:
    """The columns after every ADD COLUMNS and CHANGE of the script."""
    for step in steps:
        if (added := _ADD.match(step.statement)) and added[1] == name:
            columns += parsed(_one_line(added[2]))
        if (changed := _RENAME.match(step.statement)) and changed[1] == name:
            new = Column.of(changed[3], changed[4])
            columns = tuple(new if one.name == changed[2] else one for one in columns)
    return columns


def _one_line(columns: str) -> str:
    """Columns apart by a comma and a blank; inside types there are none."""
    return columns.replace("`", "").lower()
