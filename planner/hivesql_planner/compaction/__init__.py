"""When a table is compacted, what of it, and in which order queued requests are taken."""
