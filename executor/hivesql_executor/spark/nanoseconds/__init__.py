"""TIMESTAMP to the nanosecond, where Spark's own ends at the microsecond."""
