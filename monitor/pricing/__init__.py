"""Prices and context limits of models, with dates. Unknown stays unknown.

``PriceTable.load()`` reads the built-in table in a few milliseconds; nothing heavy is imported.
"""

from monitor.pricing.model import Limits, Price, PriceFileError, Tier
from monitor.pricing.table import PriceTable

__all__ = ["Limits", "Price", "PriceFileError", "PriceTable", "Tier"]
