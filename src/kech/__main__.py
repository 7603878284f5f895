"""`python -m kech` is `kech`."""

from kech.system.console import exit_on_interrupt


def main() -> None:
    """Import the command line, and run it."""
    with exit_on_interrupt():
        from kech.cli import main as run
    run()


if __name__ == "__main__":
    main()
