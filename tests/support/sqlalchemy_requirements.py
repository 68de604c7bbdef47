"""What SQLAlchemy's dialect compliance suite may ask of Hive's SQL."""

from __future__ import annotations

from typing import Any

from sqlalchemy.testing import exclusions
from sqlalchemy.testing.requirements import SuiteRequirements

_YES = (
    "schemas", "schema_reflection", "schema_create_delete", "views", "view_column_reflection",
    "view_reflection", "comment_reflection", "comment_reflection_full_unicode",
    "foreign_key_constraint_reflection", "primary_key_constraint_reflection",
    "unique_constraint_reflection", "check_constraint_reflection",
    "foreign_key_constraint_name_reflection", "reflects_pk_names",
    "intersect", "except_", "window_functions", "ctes", "ctes_with_values", "insert_from_select",
    "multivalues_inserts", "bound_limit_offset", "nullsordering", "subqueries", "offset",
    "standalone_binds", "standalone_null_binds_whereclause", "boolean_col_expressions",
    "nullable_booleans", "group_by_complex_expression", "datetime", "datetime_microseconds",
    "timestamp_microseconds", "datetime_historic", "date", "date_historic", "datetime_literals",
    "binary_literals", "precision_numerics_general", "precision_numerics_enotation_small",
    "precision_numerics_enotation_large", "precision_numerics_many_significant_digits",
    "infinity_floats", "text_type", "empty_strings_varchar", "empty_strings_text",
    "unbounded_varchar", "unicode_data", "unicode_ddl", "expressions_against_unbounded_text",
    "selectone", "autocommit", "isolation_level", "get_isolation_level_values",
    "supports_is_distinct_from", "regexp_match", "regexp_replace", "sane_rowcount",
    "sane_multi_rowcount",
    "duplicate_names_in_cursor_description", "table_ddl_if_exists",
    "independent_connections", "order_by_label_with_expression", "order_by_col_from_union",
    "like_escapes", "unusual_column_name_characters", "supports_bitwise_or",
    "supports_bitwise_and", "supports_bitwise_not", "supports_bitwise_xor", "create_table_as",
    "reflect_table_options", "update_where_target_in_subquery",
)  # fmt: skip
_NO = (
    # Hive has no such thing.
    "autoincrement_insert", "implements_get_lastrowid", "emulated_lastrowid", "dbapi_lastrowid",
    "sequences", "identity_columns", "computed_columns", "index_reflection", "time",
    "time_microseconds", "json_type", "insert_returning", "update_returning", "delete_returning",
    "empty_inserts", "savepoints", "two_phase_transactions", "temporary_views",
    "on_update_cascade", "deferrable_fks", "duplicate_key_raises_integrity_error", "ctes_on_dml",
    "datetime_timezone", "tuple_in", "sql_expression_limit_offset", "temporary_tables",
    "temp_table_reflection", "has_temp_table", "create_temp_table_as",
    "temp_table_comment_reflection", "unique_index_reflect_as_unique_constraints", "window_range",
    "date_coerces_from_datetime",
    "denormalized_names", "fetch_first", "array_type", "index_ddl_if_exists", "temp_table_names",
    "uuid_data_type",
)  # fmt: skip


def _open() -> Any:
    return property(lambda self: exclusions.open())


def _closed() -> Any:
    return property(lambda self: exclusions.closed())


Requirements = type(
    "Requirements",
    (SuiteRequirements,),
    {name: _open() for name in _YES} | {name: _closed() for name in _NO},
)
