"""ORC files without Spark: tails, statistics, row counts, bucket hashes, and files made visible."""
