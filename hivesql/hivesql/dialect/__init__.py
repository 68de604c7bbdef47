"""The sqlglot dialect ``hive_acid``: Hive's statements as text, tokens and trees, strictly."""
