"""A strict reader of queries over one table."""

from __future__ import annotations

from dataclasses import dataclass

from hivesql_planner.local.spark_sql_reader import Literal, Name, Node, Reader, Unclear

_FUNCTIONS = ("count", "min", "max", "sum")


@dataclass(frozen=True, slots=True)
class Star:
    """``*`` or ``alias.*``."""

    alias: str | None = None


@dataclass(frozen=True, slots=True)
class Called:
    """A function of a column, or of ``*``."""

    function: str
    argument: Name | Star


@dataclass(frozen=True, slots=True)
class Ordered:
    """One item of ORDER BY; without NULLS FIRST or LAST, Spark's rule holds."""

    name: Name
    descending: bool
    nulls_first: bool


Item = Star | Called | Name | Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectTree:
    """``SELECT items FROM view alias [WHERE …] [ORDER BY …] [LIMIT n]``.

    ``aliases`` are the names after AS, None where there is none.
    """

    items: tuple[Item, ...]
    aliases: tuple[str | None, ...]
    view: str
    alias: str
    where: Node | None
    order: tuple[Ordered, ...]
    limit: int | None


class SelectReader(Reader):
    """Reads one query from left to right."""

    def select(self) -> SelectTree:
        """Return the whole text as one query."""
        return self._whole(self._select)

    def _select(self) -> SelectTree:
        self._take("select")
        listed = self._listed(self._select_item)
        self._take("from")
        view = self._name()
        return SelectTree(
            items=tuple(item for item, _ in listed),
            aliases=tuple(alias for _, alias in listed),
            view=view,
            alias=self._alias() or view,
            where=self._or() if self._skipped("where") else None,
            order=self._order() if self._skipped("order") else (),
            limit=self._limit() if self._skipped("limit") else None,
        )

    def _select_item(self) -> tuple[Item, str | None]:
        item = self._shown()
        return item, self._name() if self._skipped("as") else None

    def _shown(self) -> Item:
        if self._skipped("*"):
            return Star()
        kind, text = self._peek()
        if kind == "word" and text in _FUNCTIONS and self._peek(1)[1] == "(":
            self._at += 2
            argument = Star() if self._skipped("*") else self._path()
            self._take(")")
            return Called(text, argument)
        if kind in ("word", "quoted") and self._peek(1)[1] == "." and self._peek(2)[1] == "*":
            self._at += 3
            return Star(text.strip("`").lower())
        found = self._operand()
        if not isinstance(found, (Name, Literal)):
            raise Unclear
        return found

    def _alias(self) -> str | None:
        if self._skipped("as"):
            return self._name()
        kind, text = self._peek()
        named = kind == "quoted" or (kind == "word" and text not in ("where", "order", "limit"))
        return self._name() if named else None

    def _order(self) -> tuple[Ordered, ...]:
        self._take("by")
        return self._listed(self._order_item)

    def _order_item(self) -> Ordered:
        name = self._path()
        descending = self._skipped("desc")
        if not descending:
            self._skipped("asc")
        if not self._skipped("nulls"):
            return Ordered(name, descending, not descending)
        first = self._skipped("first")
        if not first:
            self._take("last")
        return Ordered(name, descending, first)

    def _limit(self) -> int:
        number = self._operand()
        if not isinstance(number, Literal) or number.kind != "int" or int(number.text) < 0:
            raise Unclear
        return int(number.text)

    def _skipped(self, text: str) -> bool:
        found = self._word(text)
        self._at += found
        return found
