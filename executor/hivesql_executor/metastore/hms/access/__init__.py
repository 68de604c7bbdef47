"""How connections to a Hive Metastore are made: TLS, Kerberos, passwords, and HTTP."""
