"""What only rows can tell of a table: ids, order, buckets, and deletes that hit nothing."""
