"""The names of Hive 4.1's functions, and those that are refused by name."""

from __future__ import annotations

# SHOW FUNCTIONS of Hive 4.1 without operators and functions for tests; then those that its grammar
# knows besides.
_LISTED = """
abs acos add_months aes_decrypt aes_encrypt approx_distinct array array_append array_compact
array_contains array_distinct array_except array_intersect array_join array_max array_min
array_position array_remove array_slice array_union ascii asin assert_true assert_true_oom atan avg
base64 bin bloom_filter bround bucket_number buildversion cast_format cbrt ceil ceiling char_length
character_length chr coalesce collect_list collect_set compute_bit_vector_fm compute_bit_vector_hll
concat concat_ws context_ngrams conv corr cos cosh count covar_pop covar_samp crc32 create_union
cume_dist current_authorizer current_catalog current_database current_date current_groups
current_schema current_timestamp current_user date_add date_format date_sub datediff
datetime_legacy_hybrid_calendar day dayofmonth dayofweek decode degrees dense_rank deserialize e elt
encode exp explode extract_union factorial field find_in_set first_value floor floor_day floor_hour
floor_minute floor_month floor_quarter floor_second floor_week floor_year format_number
from_unixtime from_utc_timestamp get_json_object get_llap_splits get_splits get_sql_schema greatest
grouping hash hex histogram_numeric hour if in_bloom_filter in_file index initcap inline instr
internal_interval is_not_distinct_from isfalse isnotfalse isnotnull isnottrue isnull istrue
java_method json_read json_tuple lag last_day last_value lcase lead least length levenshtein likeall
likeany ln locate log log10 log2 logged_in_user lower lpad ltrim map map_keys map_values mask
mask_first_n mask_hash mask_last_n mask_show_first_n mask_show_last_n matchpath max md5 mid min
minute mod month months_between murmur_hash named_struct ndv_compute_bit_vector negative next_day
ngrams noop noopstreaming noopwithmap noopwithmapstreaming ntile nullif nvl octet_length parse_url
parse_url_tuple percent_rank percentile percentile_approx percentile_cont percentile_disc pi pmod
posexplode position positive pow power printf quarter quote radians rand rank reflect reflect2
regexp_extract regexp_replace regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope
regr_sxx regr_sxy regr_syy repeat replace replicate_rows reverse round row_number rpad rtrim second
sentences sha sha1 sha2 shiftleft shiftright shiftrightunsigned sign sin sinh size sort_array
sort_array_by soundex space split sqrt stack std stddev stddev_pop stddev_samp str_to_map struct
substr substring substring_index sum surrogate_key tan tanh to_date to_epoch_milli to_unix_timestamp
to_utc_timestamp toarray tomap tostruct translate trim trunc tumbling_window typeof ucase unbase64
unhex unix_timestamp upper uuid var_pop var_samp variance version weekofyear width_bucket xpath
xpath_boolean xpath_double xpath_float xpath_int xpath_long xpath_number xpath_short xpath_string
year
"""
_GRAMMAR = """
and any or not in exists case when cast extract all tinyint smallint int bigint float double decimal
boolean string binary date timestamp values interval_year_month interval_day_time
"""
_OPERATORS = """
! != % & * + - / < <= <=> <> = == > >= ^ | ~ and between case in like not or regexp rlike when
"""
HIVE = frozenset((_LISTED + _GRAMMAR).split())
_FAMILIES = ("ds_", "st_")  # DataSketches and ESRI geometry
# Spark has no such function, or one of another meaning.
REFUSED = frozenset(
    """assert_true_oom bloom_filter bucket_number cast_format
    compute_bit_vector_fm compute_bit_vector_hll current_authorizer
    current_groups get_llap_splits
    get_splits get_sql_schema in_bloom_filter internal_interval
    matchpath ndv_compute_bit_vector noop
    noopstreaming noopwithmap noopwithmapstreaming
    replicate_rows
    toarray tomap tostruct tumbling_window""".split()  # noqa: SIM905 - words read better than a list of strings
)


def is_hive_function(name: str) -> bool:
    """Tell whether Hive has a function of that name (lower case)."""
    return name in HIVE or name.startswith(_FAMILIES)


def listed_functions() -> tuple[str, ...]:
    """List what SHOW FUNCTIONS tells: Hive's operators and functions that queries may call."""
    return tuple(sorted({*_OPERATORS.split(), *_LISTED.split()} - REFUSED))


def is_refused(name: str) -> bool:
    """Tell whether a function of Hive cannot be had here."""
    return name in REFUSED or name.startswith(_FAMILIES)
