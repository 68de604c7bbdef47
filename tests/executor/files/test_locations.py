"""Places as statements name them, and as Hive 4.1 understands them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivesql_executor.files.locations import complete_location, is_absolute, require_below_root
from hivesql_planner.errors import SemanticError


@pytest.mark.parametrize(
    ("text", "location"),
    [
        ("/a/b", "/a/b"),
        ("/a//b/", "/a/b"),
        ("/a/x/../b/.", "/a/b"),
        ("/../../a", "/a"),
        ("/a/b:c", "/a/b:c"),
        ("/a/e%208 #?", "/a/e%208 #?"),
        ("file:/a/b", "file:/a/b"),
        ("file:///a/b/", "file:/a/b"),
        ("FILE:/a", "file:/a"),
        ("file:/a/../b%20c", "file:/b%20c"),
        ("s3a://bucket/a//b/../c/", "s3a://bucket/a/c"),
        ("s3a://bucket", "s3a://bucket"),
        ("hdfs:///a", "hdfs:///a"),
        ("hdfs:/a", "hdfs:/a"),
    ],
)
def test_complete(text: str, location: str) -> None:
    assert complete_location(text) == location
    assert complete_location(text, "/some/where") == location
    assert complete_location(location) == location
    assert is_absolute(text)


@pytest.mark.parametrize(
    ("base", "location"),
    [
        ("/w/t", "/w/A/b c"),
        ("file:/w/t", "file:/w/A/b c"),
        ("hdfs://host:9/w/t", "hdfs://host:9/w/A/b c"),
        (None, str(Path.cwd().parent / "A/b c")),
    ],
)
def test_relative_ones_are_below_their_base(base: str | None, location: str) -> None:
    assert complete_location("../A/./b c", base) == location
    assert not is_absolute("../A/./b c")


@pytest.mark.parametrize(
    "text", ["", " ", "file:a", "s3a:a", "file://host/a", "e f:/a", "1x://a/b"]
)
def test_what_is_no_location(text: str) -> None:
    with pytest.raises(SemanticError):
        complete_location(text)


@pytest.mark.parametrize("text", ["/", "file:/", "file:///", "hdfs:/", "hdfs:///", "//", "/a/.."])
def test_no_root(text: str) -> None:
    with pytest.raises(SemanticError, match="must not be the root path"):
        require_below_root(complete_location(text))


def test_a_bucket_is_no_root() -> None:
    assert require_below_root("s3a://bucket") == "s3a://bucket"
