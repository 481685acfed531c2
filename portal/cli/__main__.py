"""`python -m portal.cli`."""

from . import main

main()
