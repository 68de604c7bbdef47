"""HiveServer2's Thrift protocol over sessions of one process: ``hivesql serve``."""
