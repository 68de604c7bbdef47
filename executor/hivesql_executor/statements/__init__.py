"""What each kind of statement does once it is planned, one module a kind."""
