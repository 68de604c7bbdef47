"""Values of results as the texts that Hive makes of them."""
