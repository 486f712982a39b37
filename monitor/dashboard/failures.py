"""Errors in words for people."""

from __future__ import annotations

from pathlib import Path


def reason(error: Exception) -> str:
    """What a compactor says went wrong; only of foreseen errors the words are meant for people."""
    if isinstance(error, ValueError | OSError):
        return str(error)
    return f"an unexpected error ({type(error).__name__})"


def failure_sentence(error: BaseException | None) -> str:
    """What failed and where, without any value: values may be words of a log."""
    where = ""
    trace = error.__traceback__ if error is not None else None
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if "monitor" in name:
            where = f" at {Path(name).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    kind = type(error).__name__ if error is not None else "error"
    return f"ctxmon: the dashboard failed ({kind}{where}). Nothing was written. Run with -v for the details."
