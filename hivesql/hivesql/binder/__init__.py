"""Names bound to what the catalog has, with Hive's checks: parsed statements become bound ones."""
