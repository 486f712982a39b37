"""`python -m monitor` is the same as `ctxmon`."""

from monitor.cli import entry

if __name__ == "__main__":
    entry()
