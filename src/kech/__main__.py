"""`python -m kech` is `kech`."""

import gc

from kech.system.console import exit_on_interrupt, replace_unprintable


def main() -> None:
    """Import the command line, and run it."""
    replace_unprintable()
    with exit_on_interrupt():
        from kech.cli import main as run
    gc.freeze()  # modules are no garbage: to look through them took 0.1 s of 0.7 s for 60 rows
    run()


if __name__ == "__main__":
    main()
