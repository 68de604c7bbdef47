"""``table_changes('table', from, to, 'key', …)`` in FROM: what happened between two writes."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from hivesql.binding import Binding
from hivesql.dialect.edits import Edit
from hivesql.dialect.tokens import first_from
from hivesql.python_sqlglot import exp
from hivesql.query.scope import Output, TableUse, outputs_of
from hivesql_planner.errors import NotSupported, SemanticError
from hivesql_planner.model.hive_type import Kind
from hivesql_planner.model.table import Table, TableName
from hivesql_planner.relations import CHANGE_COLUMNS, Changes

_NAME = "table_changes"
_USAGE = "write table_changes('table', first write id[, last write id[, 'key column' …]])"


class ChangesCall(NamedTuple):
    """The table that a call reads, the columns it gives, and the edits that replace it."""

    use: TableUse
    columns: tuple[Output, ...]
    alias: str
    edits: tuple[Edit, ...]


def changes_in(binding: Binding, node: exp.Table) -> ChangesCall | None:
    """Return a call of table_changes; None for any other table function."""
    call = node.this
    if not isinstance(call, exp.Anonymous) or call.name.lower() != _NAME:
        return None
    arguments = call.expressions
    tokens = binding.tokens
    first = arguments[0].meta.get("start") if arguments else None
    place = first_from(tokens, first) if first is not None else 0
    start = tokens[max(0, place - 2)].start
    numbers, words = _arguments(binding, arguments, start)
    database, _, name = words[0].lower().rpartition(".")
    named = TableName(database or binding.database, name)
    table = binding.note_read(binding.table_named(named, start))
    _check(binding, table, words[1:], start)
    end = next(token.end for token in islice(tokens, place, None) if token.is_(")"))
    use = TableUse(table, binding.view_name(table.name))
    high = numbers[1] if len(numbers) > 1 else None
    use.changes = Changes(low=numbers[0], high=high, key=tuple(word.lower() for word in words[1:]))
    text = f"`{use.view}`" + ("" if node.args.get("alias") else f" AS `{_NAME}`")
    columns = outputs_of(table) + tuple(
        Output(column.name, column.type) for column in CHANGE_COLUMNS
    )
    return ChangesCall(use, columns, (node.alias or _NAME).lower(), (Edit(start, end, text),))


def _arguments(
    binding: Binding, arguments: list[exp.Expr], start: int
) -> tuple[list[int], list[str]]:
    """Write ids, and the table's name before the key's columns."""
    numbers: list[int] = []
    words: list[str] = []
    for argument in arguments:
        text = str(argument.this) if isinstance(argument, exp.Literal) else ""
        if isinstance(argument, exp.Literal) and argument.is_string:
            words.append(text)
        elif text.isdigit() and len(words) == 1:
            numbers.append(int(text))
        else:
            binding.fail(NotSupported(f"such arguments of {_NAME}: {_USAGE}"), start)
    if not words or len(numbers) not in (1, 2):
        binding.fail(SemanticError(f"{_NAME} needs a table and a write id: {_USAGE}"), start)
    if numbers[-1] < numbers[0] - 1:
        # One less is what nothing has been written since: an empty span, which programs ask for.
        span = f"from {numbers[0]} to {numbers[-1]}, which ends before it begins"
        binding.fail(SemanticError(f"{_NAME} {span}: {_USAGE}"), start)
    return numbers, words


def _check(binding: Binding, table: Table, key: list[str], start: int) -> None:
    if table.is_view or not table.is_transactional:
        error = SemanticError(f"{table.name} is not transactional: it has no changes")
        binding.fail(error, start)
    types = {column.name: column.type for column in table.all_columns}
    for name in key:
        type_ = types.get(name.lower())
        if type_ is None:
            binding.fail(SemanticError(f"{table.name} has no column {name} for a key"), start)
        if type_.holds(Kind.MAP):
            what = f"{name} of {table.name} is no key: rows cannot be brought in order by {type_}"
            binding.fail(SemanticError(what), start)
