"""`python -m abreast` is the `abreast` command."""

from abreast.cli import main

main()
