"""Typing mistakes, and commands as other shells call them."""

from __future__ import annotations

from pathlib import Path

import pytest

import hivesql
from hivesql.hints.meant import nearest
from hivesql_planner.model.table import Column, Table, TableName
from hivesql_repl.arguments import arguments
from hivesql_repl.shell.aliases import command_of

MEANT = {
    "selct 1": "SELECT",
    "show\n tabels": "TABLES",
    "describe default.stok": "default.stock",
    "select * from stok": "stock",
    "select * from defalt.stock": "default",
    "use defalt": "default",
    "select * from zzz": None,
    "select nosuch from stock": None,
    "select itm from stock": "item",
    "select s.itm from stock s": "s.item",
    "select stok.item from stock": "stock.item",
    "insert into stock (id, itm) values (1, 'a')": "item",
    "update stock set itm = 'a'": "item",
    "insert into sales partition (dai='1') values (1)": "day",
    "show partitions sales order by dai": "day",
    "select cuont(*) from stock": "count",
    "select * form stock": "FROM",
    "select id from stock wehre id = 1": "WHERE",
    "select id item n from stock": None,
    "show tables form shop": "FROM",
    "show transaction": "TRANSACTIONS",
    "create table t (id INTT)": "INT",
    "create table t (id TEXT)": "STRING",
    "create table t (id INT name STRING)": None,
    "create table t (id INT) stored as orcc": "ORC",
    "select top 10 * from stock": "LIMIT at the end",
    "select * from stock where id = 1 && id = 2": "AND",
    "alter table stock change itm thing string": "item",
    "alter table stock change id n int after itm": "item",
    "alter table stock clustered by (itm) into 2 buckets": "item",
    "alter table sales partition column (dai int)": "day",
    "show tables;\n\nselect *\n  from stok": "stock",
}
TOLD = {
    "create table order (id int)": "order is a keyword: as a name it is written `order`",
    "select \u2018bolt\u2019": "unexpected character '\u2018': type '",
    "select \u201cid\u201d from stock": 'type "',
    "select id \u2013 1 from stock": "type -",
    "select id\uff0c 1 from stock": "type ,",
    "select ${day}": "SET hivevar:day=…, or -d on the command line",
    "select 'it's'": "within one it is written \\'",
    "set hive.txn.timout=5s": "did you mean hive.txn.timeout?",
    "select id from stock a join stock b on a.id = b.id": "column: a.id or b.id",
    "select id from (select * from stock a join stock b on a.id = b.id) q": "differ: SELECT a.id",
    "delete from stock where id = 1 limit 5": "a clause stands where it may not",
}
COMMANDS = {
    "!tables": "tables",
    "!describe t;": "describe t",
    "\\d": "tables",
    "\\d t": "describe t",
    "\\dt": "tables",
    "\\timing": "timing",
    "\\!ls": "sh ls",
    ".mode csv2": "outputformat csv2",
    ".tables": "tables",
    "SHOW COMPACTIONS --watch": "watch SHOW COMPACTIONS",
    "show locks t --watch 0.5;": "watch 0.5 show locks t",
    "SHOW TABLES; --watch": "watch SHOW TABLES;",
    "SHOW TABLES; -- watch": None,
    "SELECT 1 --watch": None,
    "SHOW LOCKS \\watch 2": "watch 2 SHOW LOCKS",
    "select 1; \\watch": "watch select 1",
    "\\d+ t": "formatted t",
    "\\d+": "tables",
    "\\dt st*": "tables st*",
    "\\c sales": "use sales",
    "\\x on": "expanded on",
    "\\t on": "header off",
    "\\T csv2": "outputformat csv2",
    "\\pset format csv": "outputformat csv2",
    ".mode csv": "outputformat csv2",
    ".output a.csv": "output a.csv",
    "!outputformat csv": "outputformat csv",
    "\\pset format aligned": "outputformat table",
    "\\pset null '-'": "null -",
    "\\pset tuples_only off": "header on",
    "\\pset nosuch 1": "pset nosuch 1",
    "\\q;": "q",
    "\\n big 3": "saved big 3",
    "\\f big 3": "saved big 3",
    ".schema t": "ddl t",
    ".headers off": "header off",
    ".mode line": "outputformat vertical",
    ".mode box": "outputformat table",
    ".timer off": "timing off",
    "!mode line": "mode line",
    "nopager": "pager off",
    "help;": "help",
    "EXIT": "quit",
    "?": "help",
    "show tables": None,
    "": None,
}
WORDS = {
    ("--outputfromat=csv2",): "did you mean --outputformat=csv2?",
    ("--sielnt",): "did you mean --silent?",
    ("doctr",): "did you mean hivesql doctor?",
    ("a.hql",): "to run a script: hivesql -f a.hql",
    ("show", "tables"): "to run a statement: hivesql -e 'show tables'",
    ("--outputformat", "csv3"): "invalid choice: 'csv3'",
    ("--outputformat", "tabel"): "did you mean table?",
    ("nosuch.hql",): "there is no file nosuch.hql; to run a script: hivesql -f FILE",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> hivesql.Session:
    home = tmp_path_factory.mktemp("hints")
    session = hivesql.connect(f"sqlite:///{home}/m.db", str(home / "warehouse"))
    session.sql(
        "CREATE TRANSACTIONAL TABLE stock (id INT, item STRING) STORED AS ORC;"
        "CREATE TABLE sales (n INT) PARTITIONED BY (day STRING) STORED AS ORC"
    )
    return session


@pytest.mark.parametrize(("text", "meant"), MEANT.items(), ids=MEANT)
def test_hint(text: str, meant: str | None, session: hivesql.Session) -> None:
    with pytest.raises(hivesql.HiveSqlError) as caught:
        session.sql(text)
    assert caught.value.meant == meant
    assert (f"did you mean {meant}?" in noted(caught.value)) == (meant is not None)


@pytest.mark.parametrize(("text", "told"), TOLD.items(), ids=TOLD)
def test_what_helps(text: str, told: str, session: hivesql.Session) -> None:
    with pytest.raises(hivesql.HiveSqlError) as caught:
        session.sql(text)
    assert told in f"{caught.value} {noted(caught.value)}"


def test_of_many_names_only_a_few_are_looked_at(tmp_path: Path) -> None:
    session = hivesql.connect(f"sqlite:///{tmp_path}/m.db", str(tmp_path / "warehouse"))
    store = session.runtime.metastore
    table = store.create_table(
        Table(name=TableName("default", "stock"), columns=(Column.of("a", "int"),), location="")
    )
    looked_at = []

    def some_tables(database: str, most: int, near: str = "") -> tuple[TableName, ...]:
        found = tuple(TableName(database, f"st_{number}") for number in range(most))
        looked_at.append(len(found))
        return (*found[:-1], table.name) if near else found

    names = [f"n{number}" for number in range(5000)]
    assert nearest("stokc", [*names, "stock"]) == "stock"
    assert nearest("n4999", names) is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session.runtime.metastore, "some_tables", some_tables, raising=False)
        patch.setattr(session.runtime.metastore, "tables", None, raising=False)
        with pytest.raises(hivesql.HiveSqlError) as caught:
            session.sql("select * from stokc")
    assert caught.value.meant == "stock"
    assert max(looked_at) < 1100
    session.close()


def noted(error: hivesql.HiveSqlError) -> str:
    return " ".join(getattr(error, "__notes__", ()))


@pytest.mark.parametrize(("typed", "command"), COMMANDS.items(), ids=COMMANDS)
def test_command(typed: str, command: str | None) -> None:
    assert command_of(typed) == command


@pytest.mark.parametrize(("words", "told"), WORDS.items(), ids=map(" ".join, WORDS))
def test_wrong_words(
    words: tuple[str, ...],
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.hql").touch()
    with pytest.raises(SystemExit):
        arguments().parse_args(words)
    assert told in capsys.readouterr().err
