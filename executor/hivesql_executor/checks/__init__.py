"""What `hivesql check` and `hivesql inspect` find in a table's directories, files and rows."""
