"""What SHOW and DESCRIBE answer."""
