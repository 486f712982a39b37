"""A report that cannot be made as asked."""


class ReportError(ValueError):
    """One clear sentence for the user."""
