"""Statements straight on the driver's cursor: the same that SQLAlchemy would send, for less time.

What a statement of ours is does not change between calls. SQLAlchemy looks it up, and builds a
context and a result, for three times as long as the driver takes; here its text is compiled once.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import Boolean, Connection, Dialect, Integer, String
from sqlalchemy.types import NullType

NO_VALUES: Mapping[str, Any] = MappingProxyType({})
Statement = tuple[Any, Mapping[str, Any]]
"""A statement with its values."""
_Process = Callable[[Any], Any]
_row_of: Any = namedtuple
_FEW = 100
# Types that the text of the statement tells the server, and those that no driver returns otherwise.
_SENT = (Integer, String)
_RETURNED = (Boolean, Integer, NullType, String)


class Call(NamedTuple):
    """What a connection that sends many statements at once is given.

    The text has ``$1`` where its first value goes; ``row`` makes a row of the answer.
    """

    text: str
    values: Sequence[Any] = ()
    row: Callable[[Sequence[Any]], Any] | None = None


class Rows(list[Any]):
    """The rows that a statement returned, and how many it ``changed``; columns by their keys."""

    changed: int = -1

    def one_or_none(self) -> Any:
        """Return the only row, if there is one."""
        if not self:
            return None
        (row,) = self
        return row

    def scalar(self) -> Any:
        """Return the first column of the first row; None where there is none."""
        return self[0][0] if self else None


class _Text:
    """A statement as a driver takes it."""

    def __init__(self, statement: Any, compiled: Any, dialect: Dialect) -> None:
        self.text: str = compiled.string
        self.names = compiled.positiontup if compiled.positional else None
        binds = compiled.binds.items()
        self.constants = {name: bind.effective_value for name, bind in binds if not bind.required}
        self.processors: list[tuple[str, _Process]] = []
        for name, bind in binds:
            process = bind.type.dialect_impl(dialect).bind_processor(dialect)
            if process is not None:
                self.processors.append((name, process))
        columns = list(statement.exported_columns)
        self.row: Any = None
        self.results: list[tuple[int, _Process]] = []
        if columns:
            keys = [str(column.key or "_") for column in columns]
            self.row = _row_of("Row", keys, rename=True)._make
        for place, column in enumerate(columns):
            process = column.type.dialect_impl(dialect).result_processor(dialect, None)
            if process is not None:
                self.results.append((place, process))

    def parameters(self, values: Mapping[str, Any]) -> Any:
        """Give the values as the driver takes them."""
        whole: dict[str, Any] = {**self.constants, **values}
        for name, process in self.processors:
            whole[name] = process(whole[name])
        return whole if self.names is None else [whole[name] for name in self.names]

    def call(self, values: Mapping[str, Any]) -> Call:
        """Give the text with its values, as such a connection takes it."""
        row = list if self.results else self.row
        return Call(self.text, self.parameters(values), row)

    def take(self, rows: Sequence[Any], changed: int) -> Rows:
        """Return what the driver has answered."""
        if self.results:
            changeable = [list(row) for row in rows]
            for row in changeable:
                for place, process in self.results:
                    row[place] = process(row[place])
            rows = changeable
        answer = Rows(map(self.row, rows))
        answer.changed = changed
        return answer


# By the statement: as each dialect has it, and given those names of columns to insert or change;
# None for what only SQLAlchemy can do.
_texts: WeakKeyDictionary[Any, dict[tuple[Any, ...], _Text | None]] = WeakKeyDictionary()


def run(db: Connection, statement: Any, values: Mapping[str, Any] = NO_VALUES) -> Rows:
    """Run a statement that stays the same from call to call.

    It is a constant, or composed by a cached function: each new one is compiled and remembered.
    """
    return run_all(db, (statement, values))[0]


def run_all(db: Connection, *statements: Statement) -> list[Rows]:
    """Run statements, none of which needs an answer to those before; where it can, all at once."""
    if not statements:
        return []
    driver = _driver(db)
    texts = _texts_of(db, driver, statements)
    if texts is None:
        return [_run_by_sqlalchemy(db, *statement) for statement in statements]
    values = [values for _, values in statements]
    try:
        if hasattr(driver, "ask"):
            answers = driver.ask(*map(_Text.call, texts, values))
        else:
            answers = [_ask(driver, *pair) for pair in zip(texts, values, strict=True)]
    except BaseException as error:  # noqa: BLE001 - it is raised, and what is broken is given up
        db._handle_dbapi_exception(error, texts[-1].text, values[-1], None, None)
    return [text.take(*answer) for text, answer in zip(texts, answers, strict=True)]


def run_later(db: Connection, statement: Any, values: Mapping[str, Any]) -> None:
    """Run a statement that returns nothing; where it can, together with whatever comes next.

    So what is wrong with it may be raised there, at the latest by the commit; what is wrong with
    its values is raised here.
    """
    driver = _driver(db)
    texts = _texts_of(db, driver, ((statement, values),)) if hasattr(driver, "put_off") else None
    if texts is None:
        run(db, statement, values)
    else:
        try:
            driver.put_off(texts[0].call(values))
        except Exception as error:  # noqa: BLE001 - it is raised as SQLAlchemy raises it
            db._handle_dbapi_exception(error, texts[0].text, values, None, None)


def run_text_later(db: Connection, text: str) -> None:
    """Run a statement of the database's own without values and rows, as ``run_later`` does."""
    driver = _driver(db)
    if hasattr(driver, "put_off") and not _is_listened_to(db):
        driver.put_off(Call(text))
    else:
        db.exec_driver_sql(text)


def run_many(db: Connection, statement: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Run a statement that returns nothing for each row of values, as ``run_later`` does."""
    if len(rows) == 1 or (len(rows) <= _FEW and hasattr(_driver(db), "put_off")):
        for row in rows:
            run_later(db, statement, row)
    elif rows:
        db.execute(statement, [dict(row) for row in rows])


def follow_commit(db: Connection, text: str) -> bool:
    """Let a statement go to the server together with the commit, and after it; False if it cannot.

    What was wrong with it is told by ``require_followed``.
    """
    driver = _driver(db)
    if not hasattr(driver, "follow_commit") or _is_listened_to(db):
        return False
    driver.follow_commit(text)
    return True


def follow_no_commit(db: Connection) -> None:
    """Let nothing follow the commit."""
    driver = _driver(db)
    if hasattr(driver, "follow_commit"):
        driver.follow_commit(None)


def require_followed(db: Connection, text: str) -> None:
    """Raise what was wrong with the statement that followed the commit."""
    driver = _driver(db)
    try:
        driver.require_followed()
    except Exception as error:  # noqa: BLE001 - it is raised as SQLAlchemy raises it
        db._handle_dbapi_exception(error, text, None, None, None)


def run_text(db: Connection, text: str) -> None:
    """Run a statement of the database's own that has no values and returns nothing."""
    if _is_listened_to(db):
        db.exec_driver_sql(text)
        return
    cursor = _driver(db).cursor()
    try:
        cursor.execute(text)
    except Exception as error:  # noqa: BLE001 - it is raised as SQLAlchemy raises it
        db._handle_dbapi_exception(error, text, None, None, None)
    finally:
        cursor.close()


def _driver(db: Connection) -> Any:
    """Return the connection of the driver, whichever it is."""
    return db.connection.dbapi_connection


def _is_listened_to(db: Connection) -> bool:
    # The flags are what SQLAlchemy looks at first: looking for listeners takes it long.
    return (db._has_events or db.engine._has_events) and bool(db.dispatch.before_cursor_execute)


def _texts_of(db: Connection, driver: Any, statements: Sequence[Statement]) -> list[_Text] | None:
    """Return what is sent to the driver; None where SQLAlchemy must do it, or somebody listens."""
    if _is_listened_to(db):
        return None
    dialect = getattr(driver, "text_dialect", db.dialect)
    texts = []
    for statement, values in statements:
        known = _texts.get(statement)
        if known is None:
            known = _texts[statement] = {}
        key = (dialect.name, dialect.paramstyle, *(values if statement.is_dml else ()))
        try:
            text = known[key]
        except KeyError:
            text = known[key] = _compile(statement, dialect, values)
        if text is None:
            return None
        texts.append(text)
    return texts


def _compile(statement: Any, dialect: Dialect, values: Mapping[str, Any]) -> _Text | None:
    names = list(values) if statement.is_dml else None
    compiled: Any = statement.compile(dialect=dialect, column_keys=names)
    is_more = (
        not all(isinstance(bind.type, _SENT) for bind in compiled.binds.values())
        or not all(isinstance(column.type, _RETURNED) for column in statement.exported_columns)
        or compiled.post_compile_params
        or compiled.literal_execute_params
        or compiled.escaped_bind_names
        or compiled.insert_prefetch
        or compiled.update_prefetch
    )
    return None if is_more else _Text(statement, compiled, dialect)


def _run_by_sqlalchemy(db: Connection, statement: Any, values: Mapping[str, Any]) -> Rows:
    result = db.execute(statement, values)
    rows = Rows(result.all() if result.returns_rows else ())
    rows.changed = result.rowcount
    return rows


def _ask(driver: Any, text: _Text, values: Mapping[str, Any]) -> tuple[Sequence[Any], int]:
    cursor = driver.cursor()
    try:
        cursor.execute(text.text, text.parameters(values))
        return (cursor.fetchall() if text.row else ()), cursor.rowcount
    finally:
        cursor.close()
