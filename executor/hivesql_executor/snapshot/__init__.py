"""Which directories and files of a table a transaction sees."""
