"""Shows: the terminal."""
