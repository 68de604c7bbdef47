"""What MkDocs calls when it builds the site: pages from the code, and links out of this folder."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

from hivesql_docs.command_line import command_line_page
from hivesql_docs.decisions import decisions_page
from hivesql_docs.diagrams import with_diagrams
from hivesql_docs.errors import errors_page
from hivesql_docs.functions import functions_page
from hivesql_docs.grammar import rules_of_page
from hivesql_docs.python_names import python_page
from hivesql_docs.settings import settings_page

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

_ROOT = Path(__file__).parents[2]
_PAGES: Mapping[str, Callable[[], str]] = {
    "reference/settings.md": settings_page,
    "reference/errors.md": errors_page,
    "reference/functions.md": functions_page,
    "reference/command-line.md": command_line_page,
    "reference/python.md": python_page,
    "reference/decisions.md": lambda: decisions_page(_ROOT / "docs" / "decisions"),
}
# Beside README, which is the front page of the repository as index.md is of the site.
_FROM_ROOT = ("CHANGELOG.md", "CONTRIBUTING.md")
# A file that `make docs` has fetched.
_MERMAID = "assets/mermaid.min.js"
_FILTER = "assets/filter_tables.js"
_DIAGRAMS = "assets/diagrams.css"
_LANGUAGES = {".py": "python", ".hql": "sql"}
_FENCE = re.compile(r"^(```\w+) .*$", re.MULTILINE)
_ELSEWHERE = re.compile(
    r"<(?:script|img|link|iframe|source)\b[^>]*(?:src|href)=[\"']?(?:https?:)?//[^>]*"
)
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Let pages load what draws their diagrams, and filters their tables, from the site itself."""
    config.extra_javascript += [_MERMAID, _FILTER]
    config.extra_css += [_DIAGRAMS]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from the code, the root's documents and the examples."""
    files.append(File.generated(config, _MERMAID, abs_src_path=os.environ["MERMAID"]))
    for place in (_FILTER, _DIAGRAMS):
        beside = Path(__file__).with_name(posixpath.basename(place))
        files.append(File.generated(config, place, abs_src_path=str(beside)))
    texts = {path: write() for path, write in _PAGES.items()}
    for name in _FROM_ROOT:
        texts[name] = (_ROOT / name).read_text(encoding="utf-8")
    for path in sorted((_ROOT / "examples").iterdir()):
        if path.suffix in _LANGUAGES:
            text = path.read_text(encoding="utf-8")
            fenced = f"````{_LANGUAGES[path.suffix]}\n{text}````\n"
            texts[f"examples/{path.name}.md"] = f"# {path.name}\n\n{fenced}"
    for place, text in texts.items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Draw rules, take tests' words off the fences, turn links to files of the root to pages."""
    folder = posixpath.dirname(page.file.src_uri)
    is_of_root = page.file.src_uri in _FROM_ROOT

    def turn(link: re.Match[str]) -> str:
        target = link[1]
        path = posixpath.normpath(posixpath.join("" if is_of_root else f"docs/{folder}", target))
        within = _page_of(path)
        if within is None or not (is_of_root or target.startswith("..")):
            return target
        return posixpath.relpath(within, folder or ".")

    turned = _LINK.sub(turn, _FENCE.sub(r"\1", markdown))
    return with_diagrams(turned, rules_of_page(turned))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Hold that a page loads nothing from other hosts, so that the site works without a network."""
    if elsewhere := _ELSEWHERE.search(output):
        raise PluginError(f"{page.file.src_uri} loads {elsewhere[0]}>, which is another host's")
    return output


def _page_of(path: str) -> str | None:
    """Return the page of a file of the repository, below docs; None where it has none."""
    top, _, rest = path.partition("/")
    if top == "docs":
        return rest
    if top == "examples" and rest:
        return f"{path}.md"
    return path if path in _FROM_ROOT else None
