"""Properties of tables that mean something, and those that look as if they should."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

# Of Hive, of its file formats and of HiveSQL, in lower case. Hive keeps any other name, too.
_KNOWN = frozenset(
    """auto.purge avro.schema.literal avro.schema.url bucketing_version comment compactorthreshold
    discover.partitions external external.table.purge hivesql.retention immutable input.regex
    no_auto_compaction orc.bloom.filter.columns orc.bloom.filter.fpp orc.compress
    orc.compress.size orc.create.index orc.row.index.stride orc.stripe.size
    parquet.compression partition.retention.period rewriting.time.window
    serialization.encoding serialization.null.format skip.footer.line.count
    skip.header.line.count soft_delete timestamp.formats transactional
    transactional_properties""".split()  # noqa: SIM905
)
# A letter or two of a name; another word in its place is a name of the user's own.
_CLOSE = 0.88


def misspelt_properties(names: Iterable[str]) -> Iterator[str]:
    """Yield a notice for each name that is nearly that of a property with a meaning.

    Hive keeps whatever is written, so a table of 'transational'='true' has no transactions.
    """
    unknown = [name for name in names if name.lower() not in _KNOWN]
    if not unknown:
        return
    # Imported late: hardly any table has other properties.
    from difflib import get_close_matches

    for name in unknown:
        for meant in get_close_matches(name.lower(), sorted(_KNOWN), n=1, cutoff=_CLOSE):
            yield f"the table property '{name}' has no effect; did you mean '{meant}'?"
