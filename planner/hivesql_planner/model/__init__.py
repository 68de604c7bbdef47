"""What the catalog knows: tables, types, names, values of partitions, constraints, statistics."""
