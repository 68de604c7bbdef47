"""The rules of the house that no linter knows."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import hivesql
from hivesql_planner import errors

ROOT = Path(__file__).parents[1]
FOLDERS = ("hivesql", "planner", "executor", "repl", "docs", "tests", "examples")
MOST_LINES = 600
MOST_FILES = 16  # of a package's folder, its __init__ included
PACKAGES = (
    "hivesql/hivesql",
    "planner/hivesql_planner",
    "executor/hivesql_executor",
    "repl/hivesql_repl",
)

NO_VERBS = frozenset(
    ("Whether", "Where", "How", "What", "Which", "Who", "Why", "When", "One", "Of", "Those")
)
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
EXAMPLES = sorted(path for path in (ROOT / "examples").rglob("*") if path.suffix in {".hql", ".py"})


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_a_file_is_short_and_says_what_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES, "split the file: one file, one matter"
    assert not text or ast.get_docstring(ast.parse(text)), "open the file with a docstring"


PACKAGE_FOLDERS = sorted(
    {path.parent for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
)


@pytest.mark.parametrize("folder", PACKAGE_FOLDERS, ids=name)
def test_a_folder_is_small_and_says_what_it_is_for(folder: Path) -> None:
    files = list(folder.glob("*.py"))
    assert len(files) <= MOST_FILES, "group the files by their matter"
    if folder.name != "versions":
        purpose = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
        assert purpose, "say in __init__.py what the folder is for"


def test_tests_mirror_the_folders_of_the_packages() -> None:
    """A test's folder has the name of a folder or module of the package that it tests."""
    tests = ROOT / "tests"
    for package in PACKAGES:
        top = tests / package.partition("/")[0]
        known = {path.stem for path in (ROOT / package).rglob("*") if path.suffix in {"", ".py"}}
        # Java lies beside the package.
        known |= {path.name for path in (ROOT / package).parent.iterdir()}
        for folder in {path.parent for path in top.rglob("*.py")} - {top}:
            assert folder.name in known, f"{name(folder)}: the package has nothing of this name"
    folders = {one.parent for one in tests.rglob("test_*.py")} - {tests}
    assert [name(one) for one in folders if len(list(one.glob("*.py"))) > MOST_FILES] == []


@pytest.mark.parametrize("path", [path for path in SOURCES if "tests" not in path.parts], ids=name)
def test_docstrings_of_functions_begin_with_a_verb(path: Path) -> None:
    """Ruff's D401 knows verbs that end wrongly, but lets these words pass."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        function.name: (ast.get_docstring(function) or " ").partition(" ")[0]
        for function in ast.walk(tree)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    assert [found for found, word in docs.items() if word in NO_VERBS] == []


# What a name that anybody may search for is not made of: the glossary has the word for it.
RIDDLES = frozenset(
    ("adopted", "asked", "fine", "found", "given", "held", "kept", "legacy", "odd",
     "placed", "raw", "settled", "together", "told", "tombstone", "vacuum")
)  # fmt: skip
# Alone they name nothing; beside another word they do.
VAGUE = frozenset(("words", "explained", "registered"))

# What a local name may not be either: any value may be one, or found.
RIDDLES_OF_LOCALS = frozenset(("asked", "found", "given", "held", "kept", "one", "said", "told"))


def named(tree: ast.AST) -> Iterator[str]:
    """Yield the names of classes, functions, parameters, attributes and a module's globals."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
        if isinstance(node, ast.Module | ast.ClassDef):
            for one in node.body:
                match one:
                    case ast.Assign(targets=targets):
                        yield from (target.id for target in targets if isinstance(target, ast.Name))
                    case ast.AnnAssign(target=ast.Name(id=name)):
                        yield name


def has_riddle(name: str) -> bool:
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").split("_")
    return "_".join(parts) in VAGUE or not RIDDLES.isdisjoint(parts)


@pytest.mark.parametrize("package", PACKAGES)
def test_names_are_the_words_of_the_glossary(package: str) -> None:
    names = {
        name(path): [one for one in (path.stem, *named(ast.parse(path.read_text("utf-8"))))
                     if has_riddle(one)]
        for path in sorted((ROOT / package).rglob("*.py"))
    }  # fmt: skip
    assert {path: riddles for path, riddles in names.items() if riddles} == {}


def local_names(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module's code gives to values, those of arguments too."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.MatchAs(name=str(name)) | ast.ExceptHandler(name=str(name)):
                yield name


@pytest.mark.parametrize("package", PACKAGES)
def test_locals_are_named_by_what_they_hold(package: str) -> None:
    names = {
        name(path): sorted(RIDDLES_OF_LOCALS.intersection(local_names(ast.parse(text))))
        for path in sorted((ROOT / package).rglob("*.py"))
        if (text := path.read_text(encoding="utf-8"))
    }
    assert {path: riddles for path, riddles in names.items() if riddles} == {}


def test_names_of_java_are_the_words_of_the_glossary() -> None:
    """Of classes, methods and fields."""
    declared = re.compile(
        r"^ {0,4}(?:(?:public|protected|private|static|final|abstract|sealed|synchronized) )*"
        r"(?:class|interface|record|enum|\w[\w.<>\[\], ?]*) (\w+) ?(?:[({;=]|implements|extends)",
        re.MULTILINE,
    )
    sources = sorted((ROOT / "executor" / "java").rglob("*.java"))
    names = {
        name(path): [one for one in declared.findall(path.read_text("utf-8")) if has_riddle(one)]
        for path in sources
    }
    assert {path: riddles for path, riddles in names.items() if riddles} == {}


# Where the text of a type is read, is the public form of it, or is no Hive type.
OF_TYPE_TEXTS = frozenset(
    (
        "planner/hivesql_planner/model/hive_type.py",
        "hivesql/hivesql/dialect/statements/types.py",  # CREATE TABLE, with errors and places
        "hivesql/hivesql/dialect/tokens.py",  # >> is two brackets there
        "planner/hivesql_planner/model/avro_schema.py",  # Avro's types
        "executor/hivesql_executor/spark/formats/avro_rows.py",
        "executor/hivesql_executor/orc/bucket_hash.py",  # runs on workers, without our package
    )
)
TYPE_WORDS = frozenset(("tinyint", "smallint", "bigint", "varchar", "uniontype", "decimal(", "<"))
CUTS = frozenset(("partition", "rpartition", "split", "startswith", "endswith", "removeprefix"))
TYPE_PATTERN = re.compile(r"(?:decimal|char|array|map|struct|uniontype)\)?\s*\\?\*?\\?[(<]")


def asked_texts(node: ast.AST) -> list[ast.expr]:
    """What a comparison, a pattern or a cut of texts looks for."""
    match node:
        case ast.Compare(left=left, ops=ops, comparators=others):
            # A sign may be compared with "<"; only a search for it is of types.
            searched = [left] if any(isinstance(one, (ast.In, ast.NotIn)) for one in ops) else []
            named = [one for one in (left, *others) if getattr(one, "value", None) != "<"]
            return searched + named
        case ast.MatchValue(value=value):
            return [] if getattr(value, "value", None) == "<" else [value]
        case ast.Call(func=ast.Attribute(attr=name), args=args) if name in CUTS:
            return args
    return []


def type_texts(tree: ast.AST) -> list[int]:
    """Lines in which the text of a type is taken apart or compared."""
    lines = []
    for node in ast.walk(tree):
        asked = asked_texts(node)
        members = [part for one in asked if isinstance(one, (ast.Tuple, ast.Set, ast.List))
                   for part in one.elts if getattr(part, "value", None) != "<"]  # fmt: skip
        for one in (*asked, *members):
            if isinstance(one, ast.Constant) and one.value in TYPE_WORDS:
                lines.append(one.lineno)
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re")), args=[first, *_]):
                if isinstance(first, ast.Constant) and TYPE_PATTERN.search(str(first.value)):
                    lines.append(first.lineno)
    return sorted(set(lines))


def test_types_are_values_and_not_texts() -> None:
    """A type is understood once, by ``HiveType``: nobody else looks into its text."""
    found = {
        name(path): lines
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if name(path) not in OF_TYPE_TEXTS
        and (lines := type_texts(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert found == {}


@pytest.mark.parametrize(
    "code",
    [
        'kind.partition("<")', 'kind.split("<")', '"<" in kind', 'kind == "bigint"',
        'kind in ("tinyint", "int")', 'kind.startswith(("string", "varchar"))',
        're.compile(r"decimal\\((\\d+)")', 're.fullmatch(r"(?:var)?char\\((\\d+)\\)", kind)',
        'kind.startswith("decimal(")', 'match kind:\n case "smallint": pass',
    ],
)  # fmt: skip
def test_types_taken_apart_are_found(code: str) -> None:
    assert type_texts(ast.parse(code))


@pytest.mark.parametrize("code", ['sign == "<"', 'sign in ("<", "<=")', '{"<": ">"}'])
def test_signs_are_no_types(code: str) -> None:
    assert not type_texts(ast.parse(code))


def drawn_tree(drawing: str) -> dict[str, str]:
    """Each class of the drawing with its parent."""
    parents: dict[str, str] = {}
    above = ["HiveSqlError"]
    for line in drawing.splitlines():
        if match := re.match(r"((?:│   |    )*)[├└]── (\w+)", line):
            depth, drawn = len(match[1]) // 4 + 1, match[2]
            above[depth:] = [drawn]
            parents[drawn] = above[depth - 1]
    return parents


def test_the_drawn_error_tree_is_the_classes() -> None:
    classes = {
        drawn: kind.__mro__[1].__name__
        for drawn, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.HiveSqlError) and kind is not errors.HiveSqlError
    }
    assert drawn_tree(inspect.getdoc(errors) or "") == classes


def test_every_error_is_public() -> None:
    assert set(drawn_tree(inspect.getdoc(errors) or "")) <= set(hivesql.__all__)


def test_the_public_names_are_sorted_and_exist() -> None:
    assert list(hivesql.__all__) == sorted(hivesql.__all__)
    assert [public for public in hivesql.__all__ if not hasattr(hivesql, public)] == []


@pytest.mark.parametrize("path", EXAMPLES, ids=name)
def test_every_example_runs_in_a_test(path: Path) -> None:
    """By name: in a test, or in an example that a test runs."""
    users = [*(ROOT / "tests").rglob("*.py"), *EXAMPLES]
    others = (user.read_text(encoding="utf-8") for user in users if user != path)
    assert any(path.name in text for text in others), f"no test runs {name(path)}"


PLACES = re.compile(r"`([\w/]+\.(?:py|java))`((?:,? `\w+`)*)")


def test_what_the_architecture_names_is_there() -> None:
    """Each file by the end of its path; the names right behind it are defined in that file."""
    page = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    folders = [*((ROOT / package).parent for package in PACKAGES), ROOT / "tests"]
    sources = [path for folder in folders for path in folder.rglob("*.*")]
    texts = {
        "/" + name(path): path.read_text(encoding="utf-8")
        for path in sources
        if path.suffix in {".py", ".java"}
    }
    missing = []
    for place in PLACES.finditer(page):
        file, names = place[1], re.findall(r"\w+", place[2])
        found = [text for path, text in texts.items() if path.endswith(f"/{file}")]
        if not found:
            missing.append(file)
        for one in names:
            if not any(re.search(rf"(?:def|class) {one}\b", text) for text in found):
                missing.append(f"{file} {one}")
    assert missing == []
