"""The databases ``sys`` and ``information_schema``: their tables, and what their rows say."""
