"""Places: which directories one is in."""

from __future__ import annotations

import pytest

from hivesql_planner.definitions.places import directories_above

ABOVE = {
    "/a/b/c": ["/a/b", "/a", "/"],
    "/a/b/": ["/a", "/"],
    "/a": ["/"],
    "/": [],
    "file:/a/b": ["file:/a", "file:/"],
    "file:///a/b": ["file:///a", "file:///"],
    "s3a://bucket/a/b": ["s3a://bucket/a", "s3a://bucket"],
    "s3a://bucket": [],
    "s3a://bucket/": [],
    "hdfs://host:8020/a/b/": ["hdfs://host:8020/a", "hdfs://host:8020"],
    "hdfs:///a/b": ["hdfs:///a", "hdfs:///"],
}


@pytest.mark.parametrize("place", ABOVE)
def test_a_place_is_in_directories_up_to_the_root_or_bucket(place: str) -> None:
    assert directories_above(place) == ABOVE[place]
