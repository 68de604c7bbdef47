"""Does: every effect; decides nothing."""
