"""What statements leave beside rows: statistics, partitions, moved and removed directories."""
