"""Work in the name of another user: a JVM of Spark, delegation tokens, and files of Hadoop."""
