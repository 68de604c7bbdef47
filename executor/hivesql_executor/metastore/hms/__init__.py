"""A real Hive Metastore over Thrift."""
