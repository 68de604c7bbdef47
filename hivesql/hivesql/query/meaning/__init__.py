"""What conditions, new values, rows and simple queries mean: told once, from the tree."""
