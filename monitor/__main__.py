"""`python -m monitor` is the same as `ctxmon`."""

from monitor.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
