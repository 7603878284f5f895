"""`python -m kech` is `kech`."""

from kech.cli import main

main()
