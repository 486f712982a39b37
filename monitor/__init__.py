"""ctxmon: how an agent's context grows call by call, why the cache was missed, and when to compact."""

from monitor._version import __version__

__all__ = ["__version__"]
