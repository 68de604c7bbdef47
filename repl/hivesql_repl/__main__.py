"""`python -m hivesql_repl`."""

import sys

from hivesql_repl.start import main

sys.exit(main())
