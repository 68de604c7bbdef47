"""Whether a text derives from the reference's grammar, and texts that have each of its parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

from hivesql_docs.grammar import (
    TERMINALS,
    Chosen,
    Named,
    Node,
    Optional,
    Repeated,
    Row,
    Rows,
    Rule,
    Typed,
)

_BLANKS = re.compile(r"(?:\s|--[^\n]*)*")
_RESERVED = re.compile(
    "select|from|where|group|order|having|union|intersect|except|join|on|as|and|or|not|case|when"
    "|then|else|end|set|values|into|using|window|qualify|limit|lateral|partition|by|insert",
    re.IGNORECASE,
)
Symbols = tuple[Typed | Named, ...]


@dataclass
class Grammar:
    """The rules by their names; ``statement`` is what all begins with."""

    rules: Mapping[str, Rule]
    _ends: dict[tuple[int, int], frozenset[int]] = field(default_factory=dict)
    _text: str = ""

    def derives(self, text: str, start: str = "statement") -> bool:
        """Tell whether the whole text derives from a rule."""
        self._text, self._ends = text, {}
        return any(self._skip(end) == len(text) for end in self._after(Named(start), 0))

    def examples(self, name: str) -> Iterator[str]:
        """Give a statement for each part of a rule, which has that part."""
        before, after = self._around[name]
        for inside in self._variants(self.rules[name].node):
            yield self._written((*before, *inside, *after))

    def _skip(self, at: int) -> int:
        match = _BLANKS.match(self._text, at)
        return match.end() if match else at

    def _after(self, node: Node, at: int) -> frozenset[int]:
        """Tell where a node may end that begins at a place; no rule may begin with itself."""
        known = self._ends.get((id(node), at))
        if known is None:
            known = self._ends[id(node), at] = frozenset(self._derive(node, at))
        return known

    def _derive(self, node: Node, at: int) -> set[int]:
        match node:
            case Typed(text):
                return self._match(_pattern(text), at)
            case Named(name) if name in TERMINALS:
                ends = self._match(TERMINALS[name].pattern, at)
                word = self._text[self._skip(at) : next(iter(ends), at)]
                return set() if _RESERVED.fullmatch(word) else ends
            case Named(name):
                return set(self._after(self.rules[name].node, at))
            case Row(items) | Rows(items):
                ends = {at}
                for item in items:
                    ends = {after for end in ends for after in self._after(item, end)}
                return ends
            case Chosen(items):
                return {end for item in items for end in self._after(item, at)}
            case Optional(item):
                return {at, *self._after(item, at)}
            case Repeated(item, comma):
                ends, new = set[int](), set(self._after(item, at))
                while new:
                    ends |= new
                    begun = {b for e in new for b in (self._match(",", e) if comma else {e})}
                    new = {a for b in begun for a in self._after(item, b)} - ends
                return ends

    def _match(self, pattern: str, at: int) -> set[int]:
        match = re.compile(pattern, re.IGNORECASE).match(self._text, self._skip(at))
        return {match.end()} if match else set()

    @cached_property
    def _shortest(self) -> dict[str, Symbols]:
        """What each rule is at least, in what is typed and terminals."""
        shortest: dict[str, Symbols] = {}

        def least(node: Node) -> Symbols | None:
            match node:
                case Typed():
                    return (node,)
                case Named(name):
                    return (node,) if name in TERMINALS else shortest.get(name)
                case Row(items) | Rows(items):
                    parts = [least(item) for item in items]
                    known = [part for part in parts if part is not None]
                    return sum(known, ()) if len(known) == len(parts) else None
                case Chosen(items):
                    found = [part for item in items if (part := least(item)) is not None]
                    return min(found, key=len, default=None)
                case Optional():
                    return ()
                case Repeated(item, _):
                    return least(item)

        while True:
            now = {name: part for name, rule in self.rules.items()
                   if (part := least(rule.node)) is not None}  # fmt: skip
            if now == shortest:
                return shortest
            shortest.update(now)

    @cached_property
    def _around(self) -> dict[str, tuple[Symbols, Symbols]]:
        """What stands before and after a rule in the first statement that is seen to have it."""
        around: dict[str, tuple[Symbols, Symbols]] = {"statement": ((), ())}
        waiting = ["statement"]
        for name in waiting:
            before, after = around[name]
            for inside in self._variants(self.rules[name].node):
                for place, symbol in enumerate(inside):
                    if isinstance(symbol, Named) and symbol.name not in (TERMINALS | around):
                        around[symbol.name] = (
                            (*before, *inside[:place]), (*inside[place + 1 :], *after)
                        )  # fmt: skip
                        waiting.append(symbol.name)
        return around

    def _variants(self, node: Node) -> Iterator[Symbols]:
        """Give what a node may be, so that each part of it is in one; names stay as they are."""
        match node:
            case Typed() | Named():
                yield (node,)
            case Row(items) | Rows(items):
                plain = [next(self._variants(item)) for item in items]
                yield sum(plain, ())
                for place, item in enumerate(items):
                    before, after = sum(plain[:place], ()), sum(plain[place + 1 :], ())
                    for variant in list(self._variants(item))[1:]:
                        yield (*before, *variant, *after)
            case Chosen(items):
                for item in items:
                    yield from self._variants(item)
            case Optional(item):
                yield ()
                yield from self._variants(item)
            case Repeated(item, comma):
                yield from self._variants(item)
                one = next(self._variants(item))
                yield (*one, Typed(","), *one) if comma else (*one, *one)

    def _written(self, symbols: Symbols) -> str:
        names = count(1)
        words = []
        for symbol in symbols:
            whole = (symbol,)
            if isinstance(symbol, Named) and symbol.name not in TERMINALS:
                whole = self._shortest[symbol.name]  # type: ignore[assignment]
            for part in whole:
                if isinstance(part, Typed):
                    words.append(part.text)
                else:
                    example = TERMINALS[part.name].example
                    is_name = part.name in ("name", "column")
                    words.append(f"{example}{next(names)}" if is_name else example)
        return " ".join(words)


def _pattern(text: str) -> str:
    """A keyword ends where no letter follows, a sign where its characters do."""
    return rf"{re.escape(text)}\b" if text[-1].isalnum() else re.escape(text)
