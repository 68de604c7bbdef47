"""When a copy of the catalog may answer, and how it follows the changes of others."""
