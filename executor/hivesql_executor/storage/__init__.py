"""Files and ORC tails."""
