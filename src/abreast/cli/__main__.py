"""`python -m abreast.cli` is the `abreast` command."""

from abreast.cli import main

main()
