"""`python -m azulsim` is the command `azulsim`."""

from azulsim.cli import main

main()
