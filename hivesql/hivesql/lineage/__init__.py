"""Which columns the columns that a statement wrote were made from, for whoever keeps lineage."""
