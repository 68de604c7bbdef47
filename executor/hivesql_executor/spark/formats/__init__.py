"""Tables that are not ACID: their files as rows of Spark, and back."""
