"""In which order sorted files follow each other, and which of them have to be read together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from hivesql_planner.acid.row_id import BUCKET_MASK, encode_bucket

T = TypeVar("T")
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class KeySpan:
    """Least and greatest write id, bucket property and row number of a file's rows."""

    write: Range
    bucket: Range
    row: Range

    def stays_in(self, writer: int) -> bool:
        """Tell whether all rows belong to the bucket, or writer, with this number."""
        low = encode_bucket(writer)
        return low <= self.bucket[0] and self.bucket[1] <= low | BUCKET_MASK

    def is_before(self, other: KeySpan) -> bool:
        """Tell whether all rows here certainly come before all rows there."""
        pairs = ((self.write, other.write), (self.bucket, other.bucket), (self.row, other.row))
        for own, theirs in pairs:
            if own[1] < theirs[0]:
                return True
            if not own[0] == own[1] == theirs[0] == theirs[1]:
                return False
        return False


def in_order(files: Sequence[tuple[KeySpan, T]]) -> list[list[T]]:
    """Files in the order of their keys; those of one inner list may overlap."""
    groups: list[list[tuple[KeySpan, T]]] = []
    for span, file in sorted(files, key=lambda pair: (pair[0].write, pair[0].bucket, pair[0].row)):
        group = [(span, file)]
        # Spans do not come by their first keys: one may reach back over several groups.
        while groups and not all(before.is_before(span) for before, _ in groups[-1]):
            group = groups.pop() + group
        groups.append(group)
    return [[file for _, file in group] for group in groups]
