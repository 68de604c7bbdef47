"""What Hive refuses in a SELECT whose names are known: calls, groups and subqueries."""
