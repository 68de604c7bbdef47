"""Work in the name of another user: a JVM of Spark, and files of Hadoop's file systems."""
