"""What Hive refuses of an expression by the types of its parts."""
