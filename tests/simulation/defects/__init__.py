"""Known defects, put back for as long as a context lasts, to prove that they are found."""
