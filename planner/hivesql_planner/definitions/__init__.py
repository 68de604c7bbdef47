"""Changes of definitions as steps: what becomes of the catalog's entries and of directories."""
