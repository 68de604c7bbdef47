"""Hive's codes in the source: which errors carry them, with which messages."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import hivesql
import hivesql_executor
import hivesql_planner
from hivesql_planner import errors

_PACKAGES = (hivesql, hivesql_executor, hivesql_planner)
_WORD = re.compile("[A-Za-z]{2,}")
_CODES = range(10_001, 50_000)
# Functions that make an error of a text and, behind it, its code.
_RAISING = ("fail", "_check_each")


@dataclass(slots=True)
class ErrorCode:
    """A code with the classes that carry it and the messages that the source has for it."""

    classes: set[str] = field(default_factory=set)
    messages: list[str] = field(default_factory=list)

    def add(self, message: str) -> None:
        """Take a message that has words of its own, and others than those that are there."""
        words = _WORD.findall(message)
        if len(words) > 1 and all(_WORD.findall(other) != words for other in self.messages):
            self.messages.append(message)


def error_codes() -> Mapping[int, ErrorCode]:
    """Find all codes, in their order; a value that is put into a message is written as ``…``."""
    codes: dict[int, ErrorCode] = defaultdict(ErrorCode)
    for name, kind in vars(errors).items():
        is_error = isinstance(kind, type) and issubclass(kind, errors.HiveSqlError)
        if is_error and "code" in vars(kind) and kind.code:
            codes[kind.code].classes.add(name)
            codes[kind.code].add((kind.__doc__ or "").strip().partition("\n")[0])
    for package in _PACKAGES:
        for path in sorted(Path(package.__path__[0]).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "code" in text.lower() or "10" in text:
                for code, name, message in _of_module(ast.parse(text)):
                    codes[code].classes.add(name)
                    codes[code].add(message)
    return dict(sorted(codes.items()))


def _of_module(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Call():
                yield from _of_call(node, constants)
            # A message beside its code, or a code whose message is made before.
            case ast.Tuple(elts=parts):
                messages = [text for part in parts if " " in (text := _message(part, constants))]
                for code in [code for part in parts for code in _number(part)]:
                    yield code, "", messages[0] if messages else ""
            case ast.Assign(targets=[ast.Name(id="code")], value=value):
                for code in _numbers(value, constants):
                    yield code, "", ""


def _of_call(call: ast.Call, constants: Mapping[str, ast.expr]) -> Iterator[tuple[int, str, str]]:
    message = _message(call.args[0], constants) if call.args else ""
    for keyword in call.keywords:
        if keyword.arg == "code":
            for code in _numbers(keyword.value, constants):
                yield code, _name(call.func), message
    if _name_of(call).startswith(_RAISING) and len(call.args) > 1:
        for code in _numbers(call.args[1], constants):
            yield code, "SemanticError", message


def _name_of(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _number(node: ast.expr) -> Iterator[int]:
    match node:
        case ast.Constant(value=int(code)) if code in _CODES:
            yield code


def _numbers(node: ast.expr, constants: Mapping[str, ast.expr]) -> Iterator[int]:
    if isinstance(node, ast.Name):
        node = constants.get(node.id, node)
    for part in ast.walk(node):
        if isinstance(part, ast.expr):
            yield from _number(part)


def _name(node: ast.expr) -> str:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name if isinstance(getattr(errors, name, None), type) else ""


def _message(node: ast.expr, constants: Mapping[str, ast.expr]) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_message(part, constants) or "…" for part in parts)
        case ast.BinOp(left=left, right=right):
            return (_message(left, constants) or "…") + (_message(right, constants) or "…")
        case ast.Name(id=name) if name in constants:
            return _message(constants[name], {})
    return ""
