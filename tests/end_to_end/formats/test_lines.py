"""Tables of text, CSV and JSON: what real Hive 4.1 made of the same lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import hivesql
from delimited_values import INF, LINES, NAN, VALUES
from hive_results import HERE
from hivesql_executor.spark.formats.delimited import split_lines
from hivesql_planner.errors import ExecutionError, NotSupported, ParseError, SemanticError
from memory_catalog import table as table_of

pytestmark = pytest.mark.spark

PIPES = "ROW FORMAT DELIMITED FIELDS TERMINATED BY '|'"
NESTED = "COLLECTION ITEMS TERMINATED BY ':' MAP KEYS TERMINATED BY '='"
ESCAPED = rf"{PIPES} ESCAPED BY '\\' {NESTED}"
CSV = "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde'"


def rows_of(
    session: hivesql.Session,
    root: Path,
    lines: Sequence[str],
    columns: str,
    clauses: str,
    properties: str = "",
) -> list[tuple[Any, ...]]:
    """The rows of an external table over one file of these lines."""
    home = root / "data"
    home.mkdir(exist_ok=True)
    (home / "f").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    session.sql("DROP TABLE IF EXISTS lines")
    session.sql(f"CREATE EXTERNAL TABLE lines ({columns}) {clauses} LOCATION '{home}' {properties}")
    return [tuple(map(_told, row)) for row in session.sql("SELECT * FROM lines").rows]


def _told(value: Any) -> Any:
    if isinstance(value, float):
        return {"nan": NAN, "inf": INF}.get(str(value), value)
    if isinstance(value, tuple) and hasattr(value, "asDict"):
        return {name: _told(inner) for name, inner in value.asDict().items()}
    if isinstance(value, list):
        return [_told(one) for one in value]
    return bytes(value) if isinstance(value, bytearray) else value


def test_texts_of_every_type(session: hivesql.Session, tmp_path: Path) -> None:
    depth = max(map(len, VALUES.values()))
    padded = [
        [*cases.items(), *[("\\N", None)] * (depth - len(cases))] for cases in VALUES.values()
    ]
    lines = ["|".join(text for text, _ in row) for row in zip(*padded, strict=True)]
    columns = ", ".join(f"c{i} {kind}" for i, kind in enumerate(VALUES))
    found = rows_of(session, tmp_path, [*lines, "1|2", ""], columns, PIPES)
    by_type = dict(zip(VALUES, zip(*found, strict=True), strict=True))
    for kind, cases in VALUES.items():
        got = dict(zip(cases, by_type[kind], strict=False))
        # CHAR is shown with its blanks or without.
        trimmed = {k: v.rstrip() if kind == "char(5)" else v for k, v in got.items()}
        assert trimmed == cases, kind
    assert found[-2][:3] == (1, 2, None)
    assert set(found[-1]) == {None}


NESTED_CASES = {
    "defaults": ("", *LINES["\x01\x02\x03"]),
    "own delimiters": (f"{PIPES} {NESTED}", *LINES["|:="]),
    "escapes": (
        ESCAPED,
        "s string, a array<string>, m map<string,string>, z int",
        {
            r"a\|b|c\\d|e\nf|1": ("a|b", ["c\\d"], {"e\nf": None}, 1),
            r"\N|\\N|\n|2": (None, ["\\N"], {"\n": None}, 2),
            r"a\:b:c\|d|k\:\=1=v\\:l=m\n|x\rq|3": (
                "a:b:c|d", ["k:=1=v\\", "l=m\n"], {"x\rq": None}, 3,
            ),
            "tail\\": ("tail\\", None, None, None),
            r"x|\N:y:\\N|a\=1=b\=2:k=\N|5": ("x", [None, "y", "\\N"], {"a=1": "b=2", "k": None}, 5),
        },
    ),
    "maps in maps": (
        f"{PIPES} COLLECTION ITEMS TERMINATED BY ',' MAP KEYS TERMINATED BY '='",
        "m map<string,map<string,map<string,array<int>>>>",
        {
            "a=x\x05p\x071\x082\x06q\x073\x04y\x05,b=": (
                {"a": {"x": {"p": [1, 2], "q": [3]}, "y": {}}, "b": {}},
            ),
            "a=x\x05p\x071\x06p\x079,a=y\x05\\N\x071,\\N=z": ({"a": {"x": {"p": [1]}}},),
            "": ({},),
            "\\N": (None,),
            "a,b=\\N,c=x,d=x\x05\\N\x04x\x05r\x071,e=\x05\x07,f=x\x05p": (
                {
                    "a": None, "b": None, "c": {"x": None}, "d": {"x": None},
                    "e": {"": {"": []}}, "f": {"x": {"p": None}},
                },
            ),
            "a=x\x05p\x07\\N\x08\x08z\x06\x071": (
                {"a": {"x": {"p": [None, None, None], "": [1]}}},
            ),
        },
    ),
    "another NULL": (
        f"{PIPES} NULL DEFINED AS 'NULL'",
        "s string, t string, i int",
        {"NULL|a|null": (None, "a", None), "|b|1": ("", "b", 1), "a|\\N|\\N": ("a", "\\N", None)},
    ),
    "CSV": (
        CSV,
        "a string, b int, c string",
        {
            "a,b,c": ("a", "b", "c"),
            '"a","b,c","d""e"': ("a", "b,c", 'd"e'),
            " x ,y,z": (" x ", "y", "z"),
            r'"a\"b",c\,d,e': ('a"b', "c,d", "e"),
            "": (None, None, None),
            ",,": ("", "", ""),
            "a": ("a", None, None),
            r"\a,\\,\\": ("a", "\\", "\\"),
            '"a""","""",""""""': ('a"', '"', '""'),
            r'a\nb,"c\nd",e': ("anb", "cnd", "e"),
            r'\"a\",b': ('"a"', "b", None),
            'a,"b""c""d",e,f': ("a", 'b"c"d', "e"),
            "\\": ("", None, None),
        },
    ),
    "other CSV": (
        f"""{CSV} WITH SERDEPROPERTIES ('separatorChar'=';','quoteChar'="'",'escapeChar'='#')""",
        "a string, b string, c string",
        {
            "'a';'b;c';'d''e'": ("a", "b;c", "d'e"),
            "a#;b;c": ("a;b", "c", None),
            "'a#'b';c;d": ("a'b", "c", "d"),
            "'##';#'#;;#a": ("#", "';", "a"),
        },
    ),
    "JSON": (
        "STORED AS JSONFILE",
        "i int, s string, a array<int>, m map<string,int>, st struct<x:int,y:string>, "
        "d decimal(10,2), t timestamp, dt date, b boolean, bin binary, f double",
        {
            '{"I":1,"S":"a","a":[1,null],"m":{"k":1,"K":2},"ST":{"X":1,"y":"b"},"D":1.50,'
            '"t":"2020-01-02 03:04:05.5","dt":"2020-01-02 x","b":true,"bin":"aGVsbG8=","f":1}': (
                1, "a", [1, None], {"k": 1, "K": 2}, {"x": 1, "y": "b"}, Decimal("1.50"),
                datetime(2020, 1, 2, 3, 4, 5, 500000), date(2020, 1, 2), True, b"hello", 1.0,
            ),
            "{}": (None,) * 11,
            '{"i":"7","s":1.50,"st":{},"d":"2.5","t":"bad","b":"x","bin":"é","f":"2.5"}': (
                7, "1.5", None, None, {"x": None, "y": None}, Decimal("2.50"), None, None, True,
                "é".encode(), 2.5,
            ),
            '{"i":"x","s":{"a": 1,"b":[1, 2]},"d":"x","t":"2020-01-02","b":0}': (
                0, '{"a":1,"b":[1,2]}', None, None, None, None, None, None, False, None, None,
            ),
            '{"i":2147483648,"s":true,"f":true} x': (
                -2147483648, "true", *[None] * 8, 1.0,
            ),
            '{"i":1,"i":1.7,"_col1":"y","f":"NaN"}': (1, "y", *[None] * 8, NAN),
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("nested", ["map<string,{}>", "uniontype<int,{}>", "struct<a:{}>"])
def test_plans_grow_with_the_depth_of_a_type(spark: SparkSession, nested: str) -> None:
    """No level stands in the plan more than once: copies of copies keep Spark busy for minutes."""
    sizes = []
    for depth in range(4):
        kind = "array<int>"
        for _ in range(depth):
            kind = nested.format(kind)
        (column,) = split_lines(table_of("db.t", f"c {kind}"))
        sizes.append(len(str(column.shape)))
    steps = [later - earlier for earlier, later in pairwise(sizes)]
    assert max(steps) < 2 * min(steps)


SERDE = "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe'"
CHARSETS = {
    # what real Hive says of these bytes
    "ISO-8859-1": {b"caf\xe9 \xfcber": "café über", b"\x80\x9f": "\x80\x9f"},
    "windows-1252": {b"caf\xe9 \x80": "café €", b"\x81": "�"},
    "GBK": {b"\xd6\xd0\xce\xc4": "中文", b"a\xff\xffb": "a��b"},
}


WRITTEN = {
    # and how it writes "café €"
    "ISO-8859-1": b"caf\xe9 ?",
    "windows-1252": b"caf\xe9 \x80",
    "GBK": b"caf\xa8\xa6 \xa2\xe3",
}


@pytest.mark.parametrize("charset", CHARSETS)
def test_other_character_sets(session: hivesql.Session, tmp_path: Path, charset: str) -> None:
    cases, home = CHARSETS[charset], tmp_path / "data"
    home.mkdir()
    (home / "f").write_bytes(b"".join(b"%d\x01%s\n" % one for one in enumerate(cases)))
    session.sql(f"""CREATE EXTERNAL TABLE t (id INT, v STRING) {SERDE}
        WITH SERDEPROPERTIES ('serialization.encoding'='{charset}') STORED AS TEXTFILE
        LOCATION '{home}'""")
    found = session.sql("SELECT v FROM t ORDER BY id").rows
    assert [row[0] for row in found] == list(cases.values())
    session.sql("INSERT OVERWRITE TABLE t VALUES (1, 'café €')")
    (path,) = (one for one in home.iterdir() if one.name[0] not in "._")
    assert path.read_bytes() == b"1\x01" + WRITTEN[charset] + b"\n"


def test_timestamps_of_other_forms(session: hivesql.Session, tmp_path: Path) -> None:
    """Real Hive tries its own form last, and writes in no other."""
    home = tmp_path / "data"
    home.mkdir()
    texts = (
        "2020-01-02T03:04:05.678", "02/01/2020 03:04", "2020-01-02 03:04:05", "1577934245678", "x",
    )  # fmt: skip
    (home / "f").write_text("".join(f"{i}\x01{text}\n" for i, text in enumerate(texts)))
    session.sql(f"""CREATE EXTERNAL TABLE t (id INT, t TIMESTAMP) {SERDE} WITH SERDEPROPERTIES
        ('timestamp.formats'="yyyy-MM-dd'T'HH:mm:ss.SSS,dd/MM/yyyy HH:mm") STORED AS TEXTFILE
        LOCATION '{home}'""")
    whole, milli = "2020-01-02 03:04:05", "2020-01-02 03:04:05.678"
    for expected in (
        [milli, "2020-01-02 03:04:00", whole, None, None],
        [milli, None, whole, milli, None],
    ):
        rows = session.sql("SELECT cast(t AS STRING) FROM t ORDER BY id").rows
        assert [row[0] for row in rows] == expected
        session.sql("ALTER TABLE t SET SERDEPROPERTIES ('timestamp.formats'='millis')")
    session.sql("""ALTER TABLE t SET SERDEPROPERTIES
        ('timestamp.formats'="yyyy-MM-dd'T'HH:mm:ss.SSSSSSSSS,yyyy-MM-dd'T'HH:mm:ss")""")
    finest = ("2020-01-02T03:04:05.678901234", "2020-01-02 03:04:05.678901234")
    (home / "f").write_text("".join(f"{i}\x01{text}\n" for i, text in enumerate(finest)))
    rows = session.sql("SELECT t FROM t ORDER BY id").rows
    assert [str(row[0]) for row in rows] == ["2020-01-02 03:04:05.678000", finest[1]]
    session.sql("INSERT OVERWRITE TABLE t VALUES (1, TIMESTAMP '2020-01-02 03:04:05.6')")
    (path,) = (one for one in home.iterdir() if one.name[0] not in "._")
    assert path.read_text() == "1\x012020-01-02 03:04:05.6\n"


@pytest.mark.parametrize("case", NESTED_CASES.values(), ids=NESTED_CASES)
def test_lines(session: hivesql.Session, tmp_path: Path, case: Any) -> None:
    clauses, columns, cases = case
    found = rows_of(session, tmp_path, list(cases), columns, clauses)
    for got, (line, row) in zip(found, cases.items(), strict=True):
        assert got == row, line


def test_csv_as_opencsv_reads_it(session: hivesql.Session, tmp_path: Path) -> None:
    """What Hive's OpenCSVSerde said to each line of ``csv_lines.jsonl`` under an escape or none."""
    text = (HERE / "csv_lines.jsonl").read_text(encoding="utf-8")
    told = [json.loads(line) for line in text.splitlines()]
    for escape in {one[0] for one in told}:
        read = [one for one in told if one[0] == escape and one[2] is not None]
        given = f" WITH SERDEPROPERTIES ('escapeChar'='{escape * 2}')" if escape else ""
        columns = "a string, b string, c string, d string"
        found = rows_of(session, tmp_path, [one[1] for one in read], columns, CSV + given)
        for got, (_, line, fields) in zip(found, read, strict=True):
            assert list(got) == fields, (escape, line)


@pytest.mark.parametrize(
    ("clauses", "columns", "line"),
    [
        (CSV, "a string", '"unclosed,b'),
        (CSV, "a string", '7,"a"b"'),
        ("STORED AS JSONFILE", "i int", "not json"),
        ("STORED AS JSONFILE", "i int", ""),
        ("STORED AS JSONFILE", "i int", '{"i":1'),
        ("STORED AS JSONFILE", "i int", '[{"i":1}]'),
        ("STORED AS JSONFILE", "i int", "{'i':1}"),
        ("STORED AS JSONFILE", "i int", '{"i":[1]}'),
        ("STORED AS JSONFILE", "a array<int>", '{"a":5}'),
        ("STORED AS JSONFILE", "st struct<x:int>", '{"st":[1]}'),
        ("STORED AS JSONFILE", "d date", '{"d":"bad"}'),
    ],
)
def test_lines_that_fail(
    session: hivesql.Session, tmp_path: Path, clauses: str, columns: str, line: str
) -> None:
    with pytest.raises(ExecutionError, match=r"default\.lines: "):
        rows_of(session, tmp_path, [line], columns, clauses)


@pytest.mark.parametrize(
    ("header", "footer", "rows"), [(2, 1, "234"), (1, 0, "12345"), (0, 2, "0123"), (3, 3, "")]
)
def test_headers_and_footers(
    session: hivesql.Session, tmp_path: Path, header: int, footer: int, rows: str
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "short").write_text("x0|b\n" * min(header + footer, 1))
    skipped = f"'skip.header.line.count'='{header}','skip.footer.line.count'='{footer}'"
    found = rows_of(
        session, tmp_path, [f"x{number}|b" for number in range(6)], "a string, b string", PIPES,
        f"TBLPROPERTIES ({skipped})",
    )  # fmt: skip
    assert sorted(a for a, _ in found) == [f"x{number}" for number in rows]


def test_refused_clauses(session: hivesql.Session) -> None:
    with pytest.raises(ParseError, match="LINES TERMINATED BY"):
        session.sql("CREATE TABLE x (a INT) ROW FORMAT DELIMITED LINES TERMINATED BY ';'")


def test_lines_tell_where_they_begin(session: hivesql.Session) -> None:
    """As Hive's TextInputFormat counts: bytes of what is in the file."""
    session.sql("""
        CREATE TABLE t (i INT, s STRING) PARTITIONED BY (d STRING) STORED AS TEXTFILE;
        INSERT INTO t VALUES (1, 'é', 'x'), (22, 'bb', 'x'), (3, NULL, 'x'), (4, 'y', 'y')
    """)
    asked = "SELECT i, BLOCK__OFFSET__INSIDE__FILE AS at FROM t WHERE d = 'x'"
    assert sorted(session.sql(asked).rows) == [(1, 0), (3, 11), (22, 5)]
    (name, *_), *_ = session.sql(
        f"SELECT INPUT__FILE__NAME, x.* FROM t x JOIN ({asked}) y "
        "ON x.i = y.i AND x.block__offset__inside__file = y.at"
    ).rows
    assert "/d=x/" in name
    assert session.sql("SELECT *, block__offset__inside__file FROM t WHERE d = 'y'").rows == [
        (4, "y", "y", 0)
    ]
    nowhere = "SELECT t.block__offset__inside__file FROM t WHERE d = 'z'"
    assert session.sql(nowhere).rows == []
    session.sql("ALTER TABLE t PARTITION (d = 'y') SET FILEFORMAT ORC")
    with pytest.raises(hivesql.NotSupported, match="d=y is stored otherwise"):
        session.sql("SELECT block__offset__inside__file FROM t")
    session.sql(
        r"CREATE TABLE c (a STRING) ROW FORMAT SERDE "
        r"'org.apache.hadoop.hive.serde2.OpenCSVSerde'; INSERT INTO c VALUES ('a'), ('b')"
    )
    assert session.sql("SELECT max(block__offset__inside__file) FROM c").rows == [(4,)]


CODECS = "org.apache.hadoop.io.compress"
COLUMNAR = "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.columnar.ColumnarSerDe'"


@pytest.mark.parametrize("stored", [
    "STORED AS SEQUENCEFILE",
    "STORED AS RCFILE",
    f"{COLUMNAR} STORED AS RCFILE",
    "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.lazybinary.LazyBinarySerDe' "
    "STORED AS SEQUENCEFILE",
])  # fmt: skip
def test_compressed_containers(session: hivesql.Session, tmp_path: Path, stored: str) -> None:
    source = "(SELECT posexplode(split(space(4000), ' ')) AS (k, v)) s"
    values = f"SELECT s.k, repeat('x', 40) FROM {source}"
    columnar = "RCFILE" in stored
    other = "GzipCodec" if columnar else "BZip2Codec"
    cases = {
        "plain": "false",
        "usual": "true",
        "old": f"true; SET mapred.output.compression.codec={CODECS}.{other};"
        "SET mapred.output.compression.type=BLOCK",
    }
    lengths, heads = {}, {}
    for name, setting in cases.items():
        session.sql(f"SET hive.exec.compress.output={setting}")
        session.sql(f"CREATE TABLE {name} (k int, v string) {stored}")
        session.sql(f"INSERT INTO {name} {values}")
        session.sql(f"INSERT INTO {name} VALUES (-1, '')")
        paths = sorted((tmp_path / "warehouse" / name).glob("0*"))
        lengths[name] = sum(path.stat().st_size for path in paths)
        heads[name] = paths[0].read_bytes()[:150]
        query = f"SELECT count(*), min(k), max(k), sum(length(v)) FROM {name}"
        assert session.sql(query).rows == [(4002, -1, 4000, 160040)]
        told = dict(session.sql(f"SHOW TBLPROPERTIES {name}").rows)
        assert told["numRows"] == "4002"
    assert b"Codec" not in heads["plain"]
    assert b"DefaultCodec" in heads["usual"]
    assert other.encode() in heads["old"]
    assert lengths["old"] < lengths["plain"] / 10
    assert lengths["usual"] < lengths["plain"] / (10 if columnar else 1)
    session.sql("INSERT OVERWRITE TABLE plain SELECT * FROM old")
    assert session.sql("SELECT count(*) FROM plain").rows == [(4002,)]


def test_codecs_that_there_are_not(session: hivesql.Session, tmp_path: Path) -> None:
    session.sql("CREATE TABLE s (k int) STORED AS SEQUENCEFILE")
    session.sql("CREATE TABLE c (k int) STORED AS RCFILE; SET hive.exec.compress.output=true")
    codec = "SET mapreduce.output.fileoutputformat.compress.codec"
    for table, setting, kind, problem in (
        ("s", f"{codec}=x.Y", SemanticError, "Compression codec x.Y was not found"),
        ("c", f"{codec}={CODECS}.BZip2Codec", NotSupported, "BZip2Codec in RCFile"),
        ("s", f"{codec}={CODECS}.DefaultCodec; SET mapred.output.compression.type=ALL",
         SemanticError, "must be one of NONE, RECORD, BLOCK"),
    ):  # fmt: skip
        session.sql(setting)
        with pytest.raises(kind, match=problem):
            session.sql(f"INSERT INTO {table} VALUES (1)")
        assert not list((tmp_path / "warehouse" / table).iterdir())
    session.sql("SET mapred.output.compression.type=NONE; INSERT INTO s VALUES (1)")
    assert b"Codec" not in next((tmp_path / "warehouse" / "s").glob("0*")).read_bytes()


THRIFT = (
    "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.thrift.ThriftDeserializer' WITH "
    "SERDEPROPERTIES ('serialization.class'='org.apache.hadoop.hive.serde2.thrift.test.Complex', "
    "'serialization.format'='org.apache.thrift.protocol.TBinaryProtocol') STORED AS SEQUENCEFILE"
)


def write_complex(session: hivesql.Session, path: Path) -> None:
    """Write a SequenceFile of two of Hive's own structs, the second without a value."""
    session.start_spark()
    spark: Any = SparkSession.getActiveSession()
    jvm = spark._jvm
    of_hive, java = jvm.org.apache.hadoop.hive.serde2.thrift, jvm.java.util
    full = of_hive.test.Complex()
    full.setAint(7)
    full.setAString("seven")
    for number in (1, 2, 3):
        full.addToLint(number)
    full.addToLintString(of_hive.test.IntString(4, "four", 5))
    texts = java.HashMap()
    texts.put("key", "value")
    full.setMStringString(texts)
    full.setUnionField1(of_hive.test.PropValueUnion.stringValue("text"))
    full.setUnionField2(of_hive.test.PropValueUnion.unionMStringString(texts))
    conf = spark._jsc.hadoopConfiguration()
    hadoop = jvm.org.apache.hadoop
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    bytes_class = loader.loadClass("org.apache.hadoop.io.BytesWritable")
    place = hadoop.fs.Path(path.as_uri())
    writer = hadoop.io.SequenceFile.createWriter(
        place.getFileSystem(conf), conf, place, bytes_class, bytes_class
    )
    for record in (full, of_hive.test.Complex()):
        content = jvm.org.apache.thrift.TSerializer().serialize(record)
        writer.append(hadoop.io.BytesWritable(), hadoop.io.BytesWritable(content))
    writer.close()


def test_a_table_of_thrift_has_the_columns_of_its_class(
    session: hivesql.Session, tmp_path: Path
) -> None:
    session.sql(f"CREATE TABLE t (x int) {THRIFT}")
    kinds = "int,bigint,string,double,boolean,array<string>,map<string,string>"
    described = [tuple(row) for row in session.sql("DESCRIBE t").rows]
    assert described[4] == (
        "lintstring", "array<struct<myint:int,mystring:string,underscore_int:int>>",
        "from deserializer",
    )  # fmt: skip
    assert described[7] == ("unionfield1", f"uniontype<{kinds}>", "from deserializer")
    write_complex(session, tmp_path / "complex.seq")
    session.sql(f"LOAD DATA LOCAL INPATH '{tmp_path}/complex.seq' INTO TABLE t")
    query = "SELECT aint, astring, lint[1], lintstring.mystring, mstringstring['key'] FROM t"
    assert session.sql(query).rows == [
        (7, "seven", 2, ["four"], "value"), (0, None, None, None, None)
    ]  # fmt: skip
    nested = session.sql("SELECT attributes, unionfield1, unionfield2 FROM t").rows
    assert nested[1] == (None, None, None)
    assert nested[0][1].asDict()["uniontype"] == 2
    assert nested[0][1][3] == "text"
    assert nested[0][2][7] == {"key": "value"}
    assert session.sql("SELECT count(*) FROM t").rows == [(2,)]


@pytest.mark.parametrize(("statement", "code"), [
    ("INSERT INTO t SELECT * FROM t", None),
    ("ALTER TABLE t ADD COLUMNS (y int)", 40013),
    ("ALTER TABLE t SET SERDEPROPERTIES ('serialization.class'='no.Class')", 40013),
    (f"CREATE TABLE u {THRIFT.replace('test.Complex', 'no.Class')}", 40000),
    (f"CREATE TABLE u {THRIFT} AS SELECT 1 AS a", None),
    (f"CREATE TABLE u {THRIFT.replace('SEQUENCEFILE', 'TEXTFILE')}", None),
])  # fmt: skip
def test_what_tables_of_thrift_cannot(
    session: hivesql.Session, statement: str, code: int | None
) -> None:
    session.sql(f"CREATE TABLE t {THRIFT}")
    with pytest.raises(hivesql.HiveSqlError) as caught:
        session.sql(statement)
    assert caught.value.code == code
