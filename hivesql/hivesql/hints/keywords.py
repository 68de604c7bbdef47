"""Words that Hive's users type: keywords and functions, for completion and hints."""

from __future__ import annotations

from collections.abc import Mapping

_STATEMENT_WORDS = """
ABORT ADD ALL ALTER ANALYZE AND ANTI AS ASC BETWEEN BUCKETS BY CASCADE CASE CAST CLUSTER
CLUSTERED COLUMN COLUMNS COMMENT COMMIT COMPACT COMPACTIONS COMPUTE CREATE CROSS CUBE CURRENT
DATABASE DATABASES DELETE DESC DESCRIBE DISTINCT DISTRIBUTE DROP ELSE END EXCHANGE EXISTS EXPLAIN
EXTENDED EXTERNAL FALSE FOLLOWING FOR FORMATTED FROM FULL FUNCTIONS GROUP GROUPING HAVING IF IN
INNER INPATH INSERT INTO INTERVAL IS JOIN LATERAL LEFT LIKE LIMIT LOAD LOCAL LOCATION LOCK LOCKS
MANAGED MATCHED MERGE MSCK NOT NULL NULLS OFFSET ON OR ORC ORDER OUTER OVER OVERWRITE PARTITION
PARTITIONED PARTITIONS PRECEDING PURGE QUALIFY RANGE RENAME REPAIR REPLACE RESTRICT RIGHT RLIKE
ROLLBACK ROLLUP ROW ROWS SCHEMAS SELECT SEMI SET SETS SHOW SORT SORTED START STATISTICS STORED
TABLE TABLES TABLESAMPLE TBLPROPERTIES TEMPORARY TEXTFILE THEN TO TRANSACTION TRANSACTIONAL
TRANSACTIONS TRUE TRUNCATE UNBOUNDED UNION UNLOCK UNSET UPDATE USE USING VALUES VIEW VIEWS WHEN
WHERE WINDOW WITH
"""
_FUNCTION_NAMES = """
abs acos add_months array array_contains ascii asin assert_true atan avg base64 bin bround
cardinality_violation cbrt ceil ceiling chr coalesce collect_list collect_set concat concat_ws
context_ngrams conv corr cos count covar_pop covar_samp crc32 cume_dist current_database
current_date current_timestamp current_user date_add date_format date_sub datediff day
dayofmonth dayofweek decode degrees dense_rank e elt encode exp explode extract factorial field
find_in_set first_value floor format_number from_unixtime from_utc_timestamp get_json_object
greatest hash hex histogram_numeric hour if initcap inline instr isnotnull isnull json_tuple lag
last_day last_value lcase lead least length levenshtein ln locate log log10 log2 lower lpad
ltrim map map_keys map_values mask max md5 min minute month months_between named_struct negative
next_day ngrams ntile nullif nvl octet_length parse_url percent_rank percentile
percentile_approx pi pmod posexplode positive pow power printf quarter quote radians rand rank
reflect regexp_extract regexp_replace regr_slope repeat reverse round row_number rpad rtrim
second sentences sha sha1 sha2 shiftleft shiftright sign sin size sort_array soundex space split
sqrt stack std stddev stddev_pop stddev_samp str_to_map struct substr substring substring_index
sum tan to_date to_utc_timestamp translate trim trunc ucase unbase64 unhex unix_timestamp upper
uuid var_pop var_samp variance weekofyear width_bucket year
"""

KEYWORDS: tuple[str, ...] = tuple(_STATEMENT_WORDS.split())
"""Of the statements that are parsed, in capitals."""

FUNCTIONS: tuple[str, ...] = tuple(_FUNCTION_NAMES.split())
"""Functions that Hive documents, in small letters."""

CLAUSES: tuple[str, ...] = (
    "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "JOIN", "INNER", "LEFT", "RIGHT", "OUTER",
    "CROSS", "UNION", "VALUES", "INTO", "PARTITION", "WHEN", "MATCHED", "USING", "DISTINCT", "SET",
)  # fmt: skip
"""What begins or joins the parts of a statement."""

TYPES: tuple[str, ...] = (
    "TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "STRING",
    "VARCHAR", "CHAR", "BOOLEAN", "BINARY", "DATE", "TIMESTAMP", "ARRAY", "MAP", "STRUCT",
)  # fmt: skip

OF_OTHERS: Mapping[str, str] = {
    "&&": "AND", "MODIFY": "CHANGE", "TOP": "LIMIT at the end",
    "SERIAL": "BIGINT", "BIGSERIAL": "BIGINT", "LONG": "BIGINT", "INT64": "BIGINT",
    "INT8": "BIGINT", "INT4": "INT", "INT32": "INT", "NUMBER": "DECIMAL",
    "FLOAT8": "DOUBLE", "FLOAT64": "DOUBLE",
    "TEXT": "STRING", "UUID": "STRING", "JSON": "STRING", "NVARCHAR": "VARCHAR",
    "VARCHAR2": "VARCHAR", "DATETIME": "TIMESTAMP", "TIMESTAMPTZ": "TIMESTAMP", "BOOL": "BOOLEAN",
    "BYTEA": "BINARY", "BLOB": "BINARY", "BYTES": "BINARY",
}  # fmt: skip
"""Words of other databases, where Hive has other ones."""
