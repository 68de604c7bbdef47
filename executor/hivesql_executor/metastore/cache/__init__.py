"""A copy of the catalog in memory, in front of any metastore."""
