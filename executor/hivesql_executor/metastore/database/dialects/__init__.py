"""What each RDBMS is told in words of its own: one module a dialect."""
