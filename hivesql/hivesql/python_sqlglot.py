"""sqlglot's modules in Python, also where its compiled build (sqlglotc) is installed beside us.

Our dialect derives classes from sqlglot's, which those of the compiled build forbid. Where that is
installed, for another program of the same environment, its Python sources are loaded once more
under a name of ours: the other program keeps the compiled ones.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlglot import exp as exp
    from sqlglot.dialects.hive import Hive as Hive
    from sqlglot.errors import ParseError as SqlglotParseError
    from sqlglot.errors import SqlglotError as SqlglotError
    from sqlglot.errors import TokenError as TokenError
    from sqlglot.generator import Generator as Generator
    from sqlglot.generators.hive import HiveGenerator as HiveGenerator
    from sqlglot.parsers.hive import HiveParser as HiveParser
    from sqlglot.tokenizer_core import Token as SqlglotToken
    from sqlglot.tokenizer_core import TokenType as TokenType

    __all__ = [
        "Generator", "Hive", "HiveGenerator", "HiveParser", "SqlglotError", "SqlglotParseError",
        "SqlglotToken", "TokenError", "TokenType", "exp",
    ]  # fmt: skip

_PACKAGE = "sqlglot"
_COPY = "_hivesql_sqlglot"
_PLACES = {
    "exp": ("expressions", ""),
    "Generator": ("generator", "Generator"),
    "Hive": ("dialects.hive", "Hive"),
    "HiveGenerator": ("generators.hive", "HiveGenerator"),
    "HiveParser": ("parsers.hive", "HiveParser"),
    "SqlglotError": ("errors", "SqlglotError"),
    "SqlglotParseError": ("errors", "ParseError"),
    "SqlglotToken": ("tokenizer_core", "Token"),
    "TokenError": ("errors", "TokenError"),
    "TokenType": ("tokenizer_core", "TokenType"),
}


def __getattr__(name: str) -> Any:
    """Import what is asked for, and no more: most statements need no generator."""
    if name not in _PLACES:
        raise AttributeError(name)
    place, attribute = _PLACES[name]
    module = import_module(f"{_ROOT}.{place}")
    return getattr(module, attribute) if attribute else module


class _Finder:
    """Finds the modules of the copy where those of sqlglot are."""

    def __init__(self, locations: Sequence[Path]) -> None:
        self.locations = locations

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module of the copy is; None for any other module."""
        if name.partition(".")[0] != _COPY:
            return None
        inner = name.split(".")[1:]
        for location in self.locations:
            place = location.joinpath(*inner)
            if (file := place / "__init__.py").exists():
                return _spec(name, file, [str(place)])
            if inner and (file := place.with_suffix(".py")).exists():
                return _spec(name, file, None)
        return None


def _spec(name: str, file: Path, inside: list[str] | None) -> ModuleSpec | None:
    return spec_from_file_location(
        name, file, loader=_Loader(name, str(file)), submodule_search_locations=inside
    )


class _Loader(SourceFileLoader):
    """Compiles a source of sqlglot so that it imports from the copy too."""

    def get_code(self, fullname: str) -> CodeType:
        """Compile the source; what Python keeps compiled beside it is sqlglot's own."""
        path = self.get_filename(fullname)
        tree = _Renaming().visit(ast.parse(self.get_data(path), path))
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


class _Renaming(ast.NodeTransformer):
    """Lets imports of sqlglot, and the names that it gives to its importer, mean the copy."""

    def visit_Import(self, node: ast.Import) -> Any:
        """``import sqlglot.x`` gives the name ``sqlglot``."""
        renamed = [ast.alias(_renamed(name.name), name.asname) for name in node.names]
        statements: list[ast.stmt] = [ast.copy_location(ast.Import(renamed), node)]
        if any(new.asname is None and new.name.partition(".")[0] == _COPY for new in renamed):
            package = ast.Import([ast.alias(_COPY, _PACKAGE)])
            statements.append(ast.copy_location(package, node))
        return statements

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        """``from sqlglot.x import y``."""
        node.module = _renamed(node.module) if node.module and not node.level else node.module
        return node

    def visit_Constant(self, node: ast.Constant) -> Any:
        """``import_module("sqlglot.dialects.…")``, and the group of plugins, which is empty so."""
        if isinstance(node.value, str) and node.value.startswith(f"{_PACKAGE}.dialects"):
            return ast.copy_location(ast.Constant(_renamed(node.value)), node)
        return node


def _renamed(module: str) -> str:
    first, dot, rest = module.partition(".")
    return f"{_COPY}{dot}{rest}" if first == _PACKAGE else module


def _find_root() -> str:
    """Name the package whose modules are Python, and make the copy known to the importer."""
    package = find_spec(_PACKAGE)
    if package is None or package.submodule_search_locations is None:
        raise ModuleNotFoundError("sqlglot is not installed", name=_PACKAGE)
    locations = list(package.submodule_search_locations)
    parser = PathFinder.find_spec(f"{_PACKAGE}.parser", locations)
    if parser is None or (parser.origin or "").endswith(".py"):
        return _PACKAGE
    # First: Python's own finder would take the compiled modules out of the folder of the package.
    sys.meta_path.insert(0, _Finder([Path(location) for location in locations]))
    return _COPY


_ROOT = _find_root()
