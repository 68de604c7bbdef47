"""Spark SQL of the names of files that rows were read from."""

from __future__ import annotations

FILE_COLUMN = "__file"
"""The address of a line's file, in rows that have been to Python or another task."""
_NAME = (
    "regexp_replace(url_decode(replace({}, '+', '%2B')), '^(?:file:)?/+', 'file:/') "
    "AS input__file__name"
)
# Spark writes file:///a%20b, Hive file:/a b.
FILE_NAME = _NAME.format("input_file_name()")
"""Spark SQL of the file that a row was read from; only right next to the scan."""
NAME_OF_COLUMN = _NAME.format(FILE_COLUMN)
"""The same of rows that bring the address along."""
