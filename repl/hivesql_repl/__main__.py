"""`python -m hivesql_repl`."""

import sys

from hivesql_repl.cli import main

sys.exit(main())
