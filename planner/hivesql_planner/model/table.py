"""Databases, tables, columns and partitions as the catalog describes them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from hivesql_planner.errors import SemanticError
from hivesql_planner.model.hive_type import INT, STRING, HiveType, Kind, quote_name
from hivesql_planner.model.materialized import Materialized
from hivesql_planner.model.skew import Skew

TableType = Literal["MANAGED_TABLE", "EXTERNAL_TABLE", "VIRTUAL_VIEW", "MATERIALIZED_VIEW"]
ConstraintKind = Literal["primary key", "foreign key", "unique", "not null", "default", "check"]
OwnerType = Literal["USER", "ROLE", "GROUP"]
FileFormat = Literal[
    "orc", "parquet", "textfile", "avro", "json", "csv", "regex", "sequencefile", "rcfile",
    "rctext", "lazybinary", "sequencebinary", "thrift",
]  # fmt: skip
"""``rctext`` is RCFile whose columns are texts (ColumnarSerDe); ``lazybinary`` and
``sequencebinary`` are text and SequenceFile whose records are bytes of LazyBinarySerDe; ``thrift``
is SequenceFile whose records a class of Thrift reads (ThriftDeserializer)."""

OF_LINES: tuple[FileFormat, ...] = (
    "textfile", "csv", "json", "regex", "sequencefile", "rcfile", "rctext", "lazybinary",
    "sequencebinary",
)  # fmt: skip
"""Formats that are read as lines of text, which have a partition's own columns."""
LINES_IN_PLACE: tuple[FileFormat, ...] = ("textfile", "csv", "json")
"""Formats whose files are the lines themselves, each of which has its place."""
AVRO_SCHEMA = "avro.schema.literal", "avro.schema.url"
"""The properties that tell the schema of Avro files: as text, or where it lies."""
BLOOM_FILTER_COLUMNS = "orc.bloom.filter.columns"
"""The property that names the columns of whose values ORC files get Bloom filters."""
TEMPORARY = "_hivesql_tmp_"
"""What the databases of temporary tables begin with."""
FRAMES = "_hivesql_frames"
"""The database that the frames handed to a statement pretend to be in."""
SPARK_VIEWS = "_hivesql_spark_views"
"""The database that temporary views of a user's Spark pretend to be in."""
SPARK_TABLES = "_hivesql_spark_tables"
"""The database that tables of other catalogs of Spark pretend to be in, by their whole names."""
DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"
LONGEST_FILE_NAME = 255
"""Bytes that a local file system and HDFS take for one name."""
LONGEST_PARTITION_NAME = 767
"""Characters of PARTITIONS.PART_NAME."""
_PERCENT = re.compile("%([0-9A-Fa-f]{2})")
_NOT_WORD = re.compile(r"\W")
# Hive escapes these in partition directory names (FileUtils.charToEscape).
_ESCAPED = frozenset("\"#%'*/:=?\\\x7f{[]^") | frozenset(map(chr, range(0x20)))


@dataclass(frozen=True, slots=True, order=True)
class TableName:
    """A table's full name, lower case as Hive stores it."""

    database: str
    name: str

    def __str__(self) -> str:
        return f"{self.database}.{self.name}"

    @classmethod
    def of_text(cls, text: str, database: str) -> TableName:
        """Return the name that a caller gives, with its database or in the current one."""
        named, _, name = text.replace("`", "").lower().rpartition(".")
        return cls(named or database, name)

    @property
    def quoted(self) -> str:
        """The name as statements have it, in back quotes."""
        return f"{quote_name(self.database)}.{quote_name(self.name)}"

    def lower(self) -> TableName:
        """Return the name as the catalog stores it."""
        return TableName(self.database.lower(), self.name.lower())


@dataclass(frozen=True, slots=True)
class Column:
    """A column, with its name in lower case."""

    name: str
    type: HiveType
    comment: str | None = None

    @classmethod
    def of(cls, name: str, type_: str, comment: str | None = None) -> Column:
        """Return a column of a catalog or an engine, by the text of its type there."""
        return cls(name, HiveType.as_stored(type_), comment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """A constraint; ``text`` is the Hive expression of DEFAULT and CHECK.

    Keys are only told, never checked: Hive has them DISABLE NOVALIDATE.
    """

    kind: ConstraintKind
    name: str = ""
    columns: tuple[str, ...] = ()
    text: str = ""
    parent: TableName | None = None
    parent_columns: tuple[str, ...] = ()
    enabled: bool = True
    rely: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """A database and where its managed tables live (a URI or an absolute path)."""

    name: str
    location: str
    comment: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    owner: str = ""
    owner_type: OwnerType = "USER"
    managed_location: str | None = None
    """Where managed tables live when not under ``location``."""

    def home_of(self, table: str, *, managed: bool) -> str:
        """Return the directory that a table gets when it names none."""
        home = self.managed_location if managed and self.managed_location else self.location
        return f"{home}/{directory_of(table)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Buckets:
    """What CLUSTERED BY says; without columns nothing is clustered."""

    columns: tuple[str, ...] = ()
    count: int = 0
    sort_columns: tuple[str, ...] = ()
    sort_descending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionStorage:
    """How the files of a partition are stored that does not follow its table."""

    format: FileFormat
    serde_properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    columns: tuple[Column, ...] | None = None
    """Its own data columns; None for those of the table."""
    buckets: Buckets | None = None
    """What it was clustered by; None for what its table says. Writes heed the table alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """One partition: its values as text (None is Hive's default partition) and its directory."""

    values: tuple[str | None, ...]
    location: str
    storage: PartitionStorage | None = None
    """Set where its files are stored otherwise than its table says."""
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What a new partition takes over of its table's; those that are there are not read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of the catalog. ``columns`` excludes the partition columns, as in Hive."""

    name: TableName
    columns: tuple[Column, ...]
    location: str
    id: int = 0
    partition_columns: tuple[Column, ...] = ()
    type: TableType = "MANAGED_TABLE"
    format: FileFormat = "orc"
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    serde_properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    bucket_columns: tuple[str, ...] = ()
    bucket_count: int = 0
    sort_columns: tuple[str, ...] = ()
    sort_descending: tuple[str, ...] = ()
    """Those of the sort columns whose order is descending."""
    skew: Skew | None = None
    """What SKEWED BY says; None without."""
    view_text: str | None = None
    """A view's query with full names, so that it means the same everywhere."""
    materialized: Materialized | None = None
    """What is kept of a materialized view; None also for one that a Hive Metastore knows."""
    view_original: str | None = None
    """A view's query as its user wrote it; None where nobody has kept it."""
    owner: str = ""
    owner_type: OwnerType = "USER"
    created_at: int = 0
    """Seconds since the epoch."""
    comment: str | None = None
    constraints: tuple[Constraint, ...] = ()
    is_system: bool = False
    """True for the tables of ``sys`` and ``information_schema`` that no metastore holds."""

    @property
    def is_transactional(self) -> bool:
        """True for full-ACID and insert-only tables."""
        return self.properties.get("transactional", "").lower() == "true"

    @property
    def is_insert_only(self) -> bool:
        """True for transactional tables without row ids."""
        kind = self.properties.get("transactional_properties", "default").lower()
        return self.is_transactional and kind == "insert_only"

    @property
    def is_full_acid(self) -> bool:
        """True for transactional tables whose rows have ids."""
        return self.is_transactional and not self.is_insert_only

    @property
    def is_immutable(self) -> bool:
        """True where INSERT INTO is for empty tables and partitions only."""
        return self.properties.get("immutable", "").lower() == "true"

    @property
    def is_dropped_softly(self) -> bool:
        """True where Hive leaves a dropped table's directory (``t.v0000007``) to its cleaner."""
        return self.is_transactional and self.properties.get("soft_delete", "").lower() == "true"

    def home_of(self, values: Sequence[str | None]) -> str:
        """Return the directory of a partition with these values, unless it was given another."""
        return f"{self.location}/{partition_name(self.partition_names, values)}"

    def read_values(self, partition: Partition) -> tuple[str | None, ...]:
        """Return the texts of a partition's values as queries read them."""
        pairs = zip(self.partition_columns, partition.values, strict=True)
        return tuple(
            default_value(column.type) if value is None else value for column, value in pairs
        )

    @property
    def owns_files(self) -> bool:
        """Tell whether the files go where the table goes, or is emptied: external.table.purge."""
        purged = self.properties.get("external.table.purge", "").lower() == "true"
        return self.type in ("MANAGED_TABLE", "MATERIALIZED_VIEW") or (
            self.type == "EXTERNAL_TABLE" and purged
        )

    @property
    def is_view(self) -> bool:
        """True for a view whose rows are those of its query."""
        return self.type == "VIRTUAL_VIEW"

    @property
    def is_materialized_view(self) -> bool:
        """True for a view whose rows are kept: it is read as a table, and changed by REBUILD."""
        return self.type == "MATERIALIZED_VIEW"

    @property
    def is_frame(self) -> bool:
        """True for rows that are in no file of a table: of a caller's frame, of the metastore …

        With a location, of files to load.
        """
        return self.is_system or self.name.database == FRAMES or self.in_spark is not None

    @property
    def in_spark(self) -> str | None:
        """Tell what it is where only Spark knows it, and no lock of ours guards it; else None."""
        kinds = {SPARK_VIEWS: "temporary view", SPARK_TABLES: "table"}
        return kinds.get(self.name.database)

    @property
    def is_bucketed(self) -> bool:
        """True when rows are placed by the hash of the bucket columns."""
        return self.bucket_count > 0 and bool(self.bucket_columns)

    @property
    def bucketing_version(self) -> int:
        """1 (Java hash) or 2 (Murmur3); absent or unreadable means 1, as in Hive."""
        return 2 if self.properties.get("bucketing_version", "").strip() == "2" else 1

    def stored_as(self, partition: Partition | None) -> Table:
        """Return the table as one of its partitions is stored."""
        storage = partition.storage if partition else None
        if storage is None:
            return self
        properties = storage.serde_properties
        if storage.format == "avro":
            properties = self.with_schema(properties)
        return replace(self, format=storage.format, serde_properties=properties)

    def with_schema(self, serde_properties: Mapping[str, str]) -> dict[str, str]:
        """Give an Avro partition's properties the table's schema: Hive reads all files by it."""
        own = {key: value for key, value in serde_properties.items() if key not in AVRO_SCHEMA}
        shared = {key: self.serde_properties[key] for key in AVRO_SCHEMA
                  if key in self.serde_properties}  # fmt: skip
        return {**own, **shared}

    @property
    def buckets(self) -> Buckets:
        """Tell what CLUSTERED BY says."""
        return Buckets(
            columns=self.bucket_columns,
            count=self.bucket_count,
            sort_columns=self.sort_columns,
            sort_descending=self.sort_descending,
        )

    def clustered(self, buckets: Buckets) -> Table:
        """Return the table with another CLUSTERED BY."""
        return replace(
            self,
            bucket_columns=buckets.columns,
            bucket_count=buckets.count,
            sort_columns=buckets.sort_columns,
            sort_descending=buckets.sort_descending,
        )

    def described_as(self, partition: Partition | None) -> Table:
        """Give the table as a partition is described: with the partition's columns and buckets."""
        stored, own = self.stored_as(partition), partition.storage if partition else None
        if own is None:
            return stored
        if own.columns is not None:
            stored = replace(stored, columns=own.columns)
        return stored if own.buckets is None else stored.clustered(own.buckets)

    def read_as(self, partition: Partition | None) -> Table:
        """Give the table as a partition's files are read: lines of text have its own columns."""
        stored = self.stored_as(partition)
        own = partition.storage.columns if partition and partition.storage else None
        if own is None or stored.format not in OF_LINES:
            return stored
        return replace(stored, columns=own)

    def storage_of(self, stored: Table) -> PartitionStorage | None:
        """Tell what a partition described as another table keeps of it; None if they agree."""
        same_columns = uncommented(stored.columns) == uncommented(self.columns)
        same_buckets = stored.buckets == self.buckets
        same_serde = stored.serde_properties == self.serde_properties
        if same_columns and same_buckets and same_serde and stored.format == self.format:
            return None
        return PartitionStorage(
            format=stored.format,
            serde_properties=stored.serde_properties,
            columns=None if same_columns else stored.columns,
            buckets=None if same_buckets else stored.buckets,
        )

    def stored_anew(self, partition: Partition) -> Partition:
        """Return a partition all of whose files are new; its columns stay its own, as in Hive."""
        own = partition.storage.columns if partition.storage else None
        storage = None if own is None else self.storage_of(replace(self, columns=own))
        return replace(partition, storage=storage)

    def writes_like(self, partition: Partition) -> bool:
        """Tell whether files that are written as the table says can be read in the partition."""
        stored = self.stored_as(partition)
        same = stored.serde_properties == self.serde_properties
        return stored.format == self.format and (same or self.format in ("orc", "parquet"))

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """Data columns, then partition columns: the order of SELECT *."""
        return self.columns + self.partition_columns

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the data columns."""
        return tuple(column.name for column in self.columns)

    @property
    def bloom_filter_columns(self) -> tuple[str, ...]:
        """Names of the data columns of which ORC files get Bloom filters; ``*`` is all of them."""
        text = self.properties.get(BLOOM_FILTER_COLUMNS, "")
        names = {name.strip().lower() for name in text.split(",")}
        return tuple(name for name in self.column_names if names & {name, "*"})

    @property
    def partition_names(self) -> tuple[str, ...]:
        """Names of the partition columns."""
        return tuple(column.name for column in self.partition_columns)


def uncommented(columns: Sequence[Column]) -> list[tuple[str, HiveType]]:
    """Return columns by name and type, which readers and writers of files go by."""
    return [(column.name, column.type) for column in columns]


def default_value(type_: HiveType) -> str | None:
    """Tell what queries read of the default partition: its name in columns of text, else None."""
    return DEFAULT_PARTITION[: type_.length] if type_.is_text else None


def columns_of_format(file_format: FileFormat, columns: Sequence[Column]) -> tuple[Column, ...]:
    """Give the columns as a format has them: CSV has text alone, Avro no small numbers."""
    if file_format == "csv":
        return tuple(replace(column, type=STRING) for column in columns)
    if file_format == "avro":
        small = (Kind.TINYINT, Kind.SMALLINT)
        return tuple(
            replace(column, type=INT) if column.type.kind in small else column for column in columns
        )
    return tuple(columns)


def directory_of(table: str) -> str:
    """Name a table's directory: as Hive, with codes for what is no letter or digit."""
    if not _NOT_WORD.search(table):
        return table
    return _NOT_WORD.sub(lambda match: f"-{ord(match[0])}-", table)


def escape_path_part(text: str) -> str:
    """Escape one partition key or value for a directory name, as Hive does."""
    if not text:
        return DEFAULT_PARTITION
    return "".join(f"%{ord(char):02X}" if char in _ESCAPED else char for char in text)


def partition_name(keys: Sequence[str], values: Sequence[str | None]) -> str:
    """``k=v/k2=v2`` with Hive's escaping; None and '' become the default partition."""
    return "/".join(
        f"{escape_path_part(key.lower())}={escape_path_part(value or '')}"
        for key, value in zip(keys, values, strict=True)
    )


def check_partition_name(name: str) -> None:
    """Raise SemanticError when no file system, or not the catalog, could hold such a partition."""
    for part in name.split("/"):
        length = len(part.encode())
        if length > LONGEST_FILE_NAME:
            short = f"{part[:60]}…" if len(part) > 60 else part
            raise SemanticError(
                f"the partition {short} would be a directory of {length} bytes (its characters are "
                f"escaped), and no name of a directory is longer than {LONGEST_FILE_NAME}. Use a "
                "shorter value"
            )
    if len(name) > LONGEST_PARTITION_NAME:
        raise SemanticError(
            f"the partition {name[:60]}… has a name of {len(name)} characters, and the catalog "
            f"takes no more than {LONGEST_PARTITION_NAME}. Use shorter values"
        )


def parse_partition_name(name: str) -> tuple[str | None, ...]:
    """Return the values of ``k=v/k2=v2``, unescaped; the default partition is None."""
    return tuple(_unescape(part.partition("=")[2]) for part in name.split("/"))


def decoded_name(name: str) -> str:
    """Return ``k=v/k2=v2`` with the characters themselves that a directory's name cannot have."""
    return _PERCENT.sub(lambda match: chr(int(match[1], 16)), name)


def _unescape(text: str) -> str | None:
    if text == DEFAULT_PARTITION:
        return None
    return decoded_name(text)
