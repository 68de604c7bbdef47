"""What a WHERE tells before rows are read: partitions, stripes and row groups to pass over."""
