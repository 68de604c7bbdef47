"""Results, plans and errors as text on a screen or in a file."""
