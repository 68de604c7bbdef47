"""What the simulated warehouse lies in: a disk, or an object store."""
