"""Hive's hashes of lists, maps and structs over Arrow arrays.

Source: ObjectInspectorUtils.getBucketHashCode. Types are read off the Arrow arrays, in which CHAR
and VARCHAR are not told from STRING.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hivesql_executor.orc import bucket_hash as hashing
from hivesql_executor.orc.bucket_hash import Ints

_KINDS = {
    pa.bool_(): "boolean", pa.int8(): "tinyint", pa.int16(): "smallint", pa.int32(): "int",
    pa.int64(): "bigint", pa.float32(): "float", pa.float64(): "double", pa.string(): "string",
    pa.large_string(): "string", pa.binary(): "binary", pa.large_binary(): "binary",
    pa.date32(): "date",
}  # fmt: skip


def hash_nested(array: pa.Array, version: int) -> Ints:
    """Return the hash of each value of any type; NULL hashes to 0."""
    kind = array.type
    if pa.types.is_map(kind):
        array = array.cast(pa.list_(pa.struct([("key", kind.key_type), ("value", kind.item_type)])))
        entries = array.flatten()
        # Of a map's values, Hive takes version 1 in both versions.
        keys, values = hash_nested(entries.field(0), version), hash_nested(entries.field(1), 1)
        hashes = _folded(array, keys ^ values, 1)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        hashes = _folded(array, hash_nested(array.flatten(), version), 31)
    elif pa.types.is_struct(kind):
        total = np.zeros(len(array), np.uint32)
        for part in array.flatten():
            total = total * np.uint32(31) + hash_nested(part, version).view(np.uint32)
        hashes = total.view(np.int32)
    elif pa.types.is_timestamp(kind):
        return hashing.hash_array(array.cast(pa.timestamp("us")), "timestamp", version)
    else:
        return hashing.hash_array(array, _KINDS.get(kind, "decimal"), version)
    hashes[np.asarray(pc.is_null(array))] = 0
    return hashes


def _folded(lists: Any, members: Ints, factor: int) -> Ints:
    """``factor * total + hash`` over the members of each list."""
    lengths = np.asarray(pc.fill_null(pc.list_value_length(lists), 0)).astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    words = members.view(np.uint32)
    totals = np.zeros(len(lengths), np.uint32)
    for place in range(int(lengths.max(initial=0))):
        longer = lengths > place
        totals[longer] = totals[longer] * np.uint32(factor) + words[starts[longer] + place]
    return totals.view(np.int32)
