"""The metastore Protocol and its backends."""
