"""From text to bound statements."""
