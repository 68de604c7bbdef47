"""Streaming ingest: transaction batches whose delta files grow while they are being read."""
