"""EXPORT and IMPORT: a table as files with their own description, as Hive 4 lays them out."""
