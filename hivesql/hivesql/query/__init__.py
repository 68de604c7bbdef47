"""What a SELECT reads and gives: scopes, outputs, pruning, and where Spark differs from Hive."""
