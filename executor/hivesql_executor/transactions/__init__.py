"""A statement's transaction: locks, heartbeats, files to move with the commit, and the reaper."""
