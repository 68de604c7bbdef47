"""A catalog of Spark over our tables, for programs whose SQL is Spark's own."""
