"""The numbers of the fields that ORC's specification gives the messages of a file's tail.

Only those that are read or written here; all others are copied as they are.
"""

from __future__ import annotations


class PostScript:
    """What the file's last bytes say: how long the sections before them are, and their codec."""

    FOOTER_LENGTH = 1
    COMPRESSION = 2
    COMPRESSION_BLOCK_SIZE = 3
    METADATA_LENGTH = 5
    WRITER_VERSION = 6


class Footer:
    """What is in the file."""

    CONTENT_LENGTH = 2
    STRIPES = 3
    TYPES = 4
    METADATA = 5
    NUMBER_OF_ROWS = 6
    STATISTICS = 7
    ROW_INDEX_STRIDE = 8
    CALENDAR = 11


PROLEPTIC_GREGORIAN = 2
"""A calendar that days are counted in."""


class StripeInformation:
    """Where a stripe is, in the footer."""

    OFFSET = 1
    INDEX_LENGTH = 2
    DATA_LENGTH = 3
    FOOTER_LENGTH = 4
    NUMBER_OF_ROWS = 5


class Type:
    """A column of the footer, by the order of their ids."""

    KIND = 1
    SUBTYPES = 2
    FIELD_NAMES = 3
    MAXIMUM_LENGTH = 4


class Kind:
    """What a type may be."""

    BOOLEAN = 0
    BYTE, SHORT, INT, LONG = 1, 2, 3, 4
    FLOAT, DOUBLE = 5, 6
    STRING, BINARY = 7, 8
    TIMESTAMP = 9
    STRUCT = 12
    DECIMAL = 14
    DATE = 15
    VARCHAR = 16
    CHAR = 17
    TIMESTAMP_INSTANT = 18


class UserMetadataItem:
    """A name with bytes, in the footer."""

    NAME = 1
    VALUE = 2


class Metadata:
    """The section before the footer: statistics of each stripe."""

    STRIPE_STATISTICS = 1


class StripeStatistics:
    """Statistics of each column of a stripe, in the order of their ids."""

    COLUMN_STATISTICS = 1


class ColumnStatistics:
    """What is known of a column's values: in a file, in a stripe or in a row group."""

    NUMBER_OF_VALUES = 1
    INTEGERS = 2
    STRINGS = 4
    BUCKETS = 5
    DECIMALS = 6
    DATES = 7
    TIMESTAMPS = 9
    HAS_NULL = 10
    BYTES_ON_DISK = 11


class Ends:
    """The least and the greatest value: of integers, strings, decimals, dates and timestamps."""

    MINIMUM = 1
    MAXIMUM = 2
    MINIMUM_UTC = 3
    MAXIMUM_UTC = 4
    """Of timestamps: those before are in the writer's zone, these in UTC."""


class Buckets:
    """Statistics of BOOLEAN columns."""

    COUNT = 1
    """How many are TRUE."""


class StripeFooter:
    """What ends a stripe."""

    STREAMS = 1
    COLUMNS = 2


class ColumnEncoding:
    """How the values of a column are written in a stripe."""

    KIND = 1


DICTIONARIES = (1, 3)
"""The kinds of encodings that name each text by a number."""


class Stream:
    """A run of bytes of a stripe, in their order."""

    KIND = 1
    COLUMN = 2
    LENGTH = 3


PRESENT = 0
"""The kind of the stream that tells which values of a column are not NULL."""
ROW_INDEX = 6
"""The kind of the stream that holds a column's row index."""


class RowIndex:
    """A column's row index: an entry for each row group."""

    ENTRIES = 1


class RowIndexEntry:
    """A row group of a column."""

    POSITIONS = 1
    """Where the group's values begin, in the order in which a reader takes its streams."""
    STATISTICS = 2
