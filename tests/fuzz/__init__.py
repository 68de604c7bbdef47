"""Random tables and statements: our two ways of running them, a model of rows, and real Hive."""
