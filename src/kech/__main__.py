"""`python -m kech` is `kech`."""

from kech.system.interrupts import left_at_once


def main() -> None:
    """Import the command line, and run it."""
    with left_at_once():
        from kech.cli import main as run
    run()


if __name__ == "__main__":
    main()
