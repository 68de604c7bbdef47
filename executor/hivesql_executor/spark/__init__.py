"""The data plane: ACID ORC through Spark."""
