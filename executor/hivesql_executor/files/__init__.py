"""Files of a warehouse: listed, read, written and moved, on local disks and through Hadoop."""
