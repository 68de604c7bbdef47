"""Object stores without Spark: who asks them, their clients, files and waiting uploads."""
