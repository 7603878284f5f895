"""`python -m kech` is `kech`."""

from kech.system.console import exit_on_interrupt, replace_unprintable


def main() -> None:
    """Import the command line, and run it."""
    replace_unprintable()
    with exit_on_interrupt():
        from kech.cli import main as run
    run()


if __name__ == "__main__":
    main()
