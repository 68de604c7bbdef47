"""The schema's revision: new databases, those of earlier releases, and those of later ones."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text, update

from hivesql_executor.metastore.database import revisions
from hivesql_executor.metastore.database.connection import Rdbms
from hivesql_executor.metastore.database.metastore import DatabaseMetastore
from hivesql_executor.metastore.database.schema import (
    database_privileges,
    dbs,
    key_constraints,
    object_locks,
    revision,
    role_map,
    roles,
    table_privileges,
)
from hivesql_planner.errors import ExecutionError, SemanticError
from hivesql_planner.model.table import Column, Table, TableName

T = TableName("default", "t")
NEXT = """
import sqlalchemy as sa
from alembic import op

revision = "next"
down_revision = "{last}"


def upgrade() -> None:
    op.create_table("ADDED", sa.Column("ID", sa.Integer(), primary_key=True))
    with op.batch_alter_table("TBLS") as table:
        table.add_column(sa.Column("ADDED", sa.String(10), server_default="x"))
"""


def made(url: str) -> None:
    """A database with a table."""
    store = DatabaseMetastore.open(url, "/wh")
    store.create_table(Table(name=T, columns=(Column.of("a", "int"),), location=""))
    store.close()


def revision_of(url: str) -> str | None:
    rdbms = Rdbms(url)
    found = rdbms.read(revisions.current_revision)
    rdbms.close()
    return found


def contents(url: str) -> dict[str, tuple[object, list[dict[str, object]]]]:
    """Columns, indexes and rows of every table."""
    rdbms = Rdbms(url)

    def look(db: Connection) -> dict[str, tuple[object, list[dict[str, object]]]]:
        found, there = {}, inspect(db)
        for name in there.get_table_names():
            columns = [(one["name"], str(one["type"])) for one in there.get_columns(name)]
            indexes = sorted(str(one["name"]) for one in there.get_indexes(name))
            rows = db.execute(text(f'SELECT * FROM "{name}"')).mappings()
            found[name] = ((columns, indexes), [dict(row) for row in rows])
        return found

    tables = rdbms.read(look)
    rdbms.close()
    return tables


def test_all_revisions_are_known() -> None:
    config = Config()
    config.set_main_option("script_location", str(revisions.MIGRATIONS))
    config.set_main_option("path_separator", "newline")
    found = ScriptDirectory.from_config(config).walk_revisions()
    assert tuple(one.revision for one in reversed(list(found))) == revisions.REVISIONS


def test_a_new_database_has_the_latest(metastore_url: str) -> None:
    made(metastore_url)
    assert revision_of(metastore_url) == revisions.REVISIONS[-1]
    store = DatabaseMetastore.open(metastore_url, "/wh")
    assert store.version() == f"schema revision {revisions.REVISIONS[-1]}, Hive 4.0.0"
    store.close()


def test_a_copy_of_a_prepared_metastore_is_a_new_one(
    backend: str, metastore_url: str, prepared: Callable[..., str], tmp_path: Path
) -> None:
    """What most tests of the metastore start with; only the time of creation differs."""
    DatabaseMetastore.open(metastore_url, "/warehouse").close()
    new = contents(metastore_url)
    (tmp_path / "metastore.db").unlink(missing_ok=True)
    copy = contents(prepared(backend, "/warehouse"))
    created = dbs.c.created_at.name
    for tables in (new, copy):
        for row in (*tables[dbs.name][1], *tables[roles.name][1]):
            assert row.pop(created)
    assert copy == new


def test_owners_get_their_privileges_when_these_are_first_kept(metastore_url: str) -> None:
    store = DatabaseMetastore.open(metastore_url, "/wh")
    names = {None: "nobodys", "ann": "hers", "bob": "his"}
    for owner, name in names.items():
        table = Table(name=TableName("default", name), location="", columns=(), owner=owner)
        store.create_table(table)
    new = [replace(one, created_at=0) for one in store.grants()]
    store.close()
    rdbms = Rdbms(metastore_url)

    def go_back(db: Connection) -> None:
        for one in (roles, role_map, database_privileges, table_privileges):
            one.drop(db)
        db.execute(update(revision).values(revision="0006"))

    rdbms.write(go_back)
    rdbms.close()
    store = DatabaseMetastore.open(metastore_url, "/wh")
    raised = store.grants()
    assert {one.principal.name for one in raised} == {"ann", "bob"}
    assert [replace(one, created_at=0) for one in raised] == new
    assert all(one.created_at for one in raised)
    assert store.role_names() == ("admin", "public")
    store.create_role("readers", "ann")
    store.close()


@pytest.mark.databases("sqlite", "postgres")
def test_a_database_of_an_earlier_release_is_recognised(metastore_url: str) -> None:
    made(metastore_url)
    rdbms = Rdbms(metastore_url)
    rdbms.write(lambda db: [one.drop(db) for one in (revision, object_locks, key_constraints)])
    store = DatabaseMetastore.open(metastore_url, "/wh")
    assert store.table(T).column_names == ("a",)
    assert store.object_locks() == ()
    store.close()
    rdbms.close()
    assert revision_of(metastore_url) == revisions.REVISIONS[-1]


def test_an_upgrade_keeps_what_is_there(metastore_url: str, tmp_path: Path) -> None:
    made(metastore_url)
    (tmp_path / "later.py").write_text(NEXT.replace("{last}", revisions.REVISIONS[-1]))
    rdbms = Rdbms(metastore_url)
    for _ in range(2):
        rdbms.write(lambda db: revisions.prepare(db, "/wh", locations=[tmp_path]))
    rows = rdbms.read(lambda db: db.execute(text('SELECT "TBL_NAME", "ADDED" FROM "TBLS"')).all())
    assert [tuple(row) for row in rows] == [("t", "x")]
    assert rdbms.read(lambda db: inspect(db).has_table("ADDED"))
    rdbms.close()
    assert revision_of(metastore_url) == "next"
    with pytest.raises(SemanticError, match="revision next, and this release knows"):
        DatabaseMetastore.open(metastore_url, "/wh")


@pytest.mark.databases("sqlite", "postgres")
def test_an_upgrade_that_fails_changes_nothing(metastore_url: str, tmp_path: Path) -> None:
    made(metastore_url)
    later = NEXT.replace("{last}", revisions.REVISIONS[-1]) + '    op.execute("no SQL")\n'
    (tmp_path / "later.py").write_text(later)
    rdbms = Rdbms(metastore_url)
    with pytest.raises(Exception, match="no"):
        rdbms.write(lambda db: revisions.prepare(db, "/wh", locations=[tmp_path]))
    assert not rdbms.read(lambda db: inspect(db).has_table("ADDED"))
    rdbms.close()
    assert revision_of(metastore_url) == revisions.REVISIONS[-1]


# Killed while it makes its n-th table, of which there are some fifty.
CUT_OFF = """
import os, signal, sys
from sqlalchemy import event
from hivesql_executor.metastore.database.connection import Rdbms
from hivesql_executor.metastore.database.metastore import DatabaseMetastore

left = int(sys.argv[2])

def die(*given):
    global left
    if given[2].lstrip().startswith("CREATE"):
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

def rdbms(*arguments, made=Rdbms):
    one = made(*arguments)
    event.listen(one._engine, "after_cursor_execute", die)
    return one

sys.modules["hivesql_executor.metastore.database.metastore"].Rdbms = rdbms
DatabaseMetastore.open(sys.argv[1], "/wh")
"""


@pytest.mark.databases("mariadb")
def test_tables_whose_making_was_cut_off_are_made_anew(metastore_url: str, mariadb: str) -> None:
    """MariaDB commits each of them by itself."""
    for tables in (1, 2, 30):
        command = [sys.executable, "-c", CUT_OFF, metastore_url, str(tables)]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
        assert revision_of(metastore_url) is None
    store = DatabaseMetastore.open(metastore_url, "/wh")
    assert store.databases() == ("default",)
    assert store.allocate_write_id(store.open_txns(1, "ann", "here")[0], T) == 1
    store.close()


@pytest.mark.databases("mariadb")
def test_tables_of_another_metastore_are_left_alone(metastore_url: str) -> None:
    """Such as those of Hive's schema tool, which knows no revision of ours."""
    made(metastore_url)
    rdbms = Rdbms(metastore_url)
    rdbms.write(revision.drop)
    with pytest.raises(SemanticError, match="a metastore that is not ours"):
        DatabaseMetastore.open(metastore_url, "/wh")
    assert rdbms.read(lambda db: inspect(db).has_table(dbs.name))
    rdbms.close()


@pytest.mark.databases("mariadb")
def test_an_upgrade_that_was_cut_off_runs_again(metastore_url: str, tmp_path: Path) -> None:
    """What it made is there, its revision is not, and it makes the rest."""
    made(metastore_url)
    begun = NEXT.replace("{last}", revisions.REVISIONS[-1]).partition("    with op")[0]
    begun = begun.replace("primary_key=True))", "primary_key=True), if_not_exists=True)")
    (tmp_path / "later.py").write_text(begun + '    op.execute("no SQL")\n')
    rdbms = Rdbms(metastore_url)
    with pytest.raises(ExecutionError, match="no SQL"):
        rdbms.write(lambda db: revisions.prepare(db, "/wh", locations=[tmp_path]))
    assert rdbms.read(lambda db: inspect(db).has_table("ADDED"))
    assert revision_of(metastore_url) == revisions.REVISIONS[-1]
    (tmp_path / "later.py").write_text(begun)
    rdbms.write(lambda db: revisions.prepare(db, "/wh", locations=[tmp_path]))
    rdbms.close()
    assert revision_of(metastore_url) == "next"


def test_a_newer_schema_is_refused(metastore_url: str) -> None:
    made(metastore_url)
    rdbms = Rdbms(metastore_url)
    rdbms.write(lambda db: db.execute(update(revision).values(revision="9999")))
    rdbms.close()
    with pytest.raises(SemanticError, match="revision 9999"):
        DatabaseMetastore.open(metastore_url, "/wh")


def test_opening_does_not_import_alembic(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/metastore.db"
    code = (
        "import sys\n"
        "from hivesql_executor.metastore.database.metastore import DatabaseMetastore\n"
        f"for _ in range(2): DatabaseMetastore.open({url!r}, '/wh').close()\n"
        "sys.exit('alembic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
