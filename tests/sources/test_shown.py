"""What is shown of addresses."""

from __future__ import annotations

from monitor.sources.shown import shown


def test_user_password_and_query_are_never_shown() -> None:
    assert shown("postgresql://me:secret@db.local:5432/litellm?sslkey=x") == "postgresql://db.local:5432/litellm"
    assert shown("https://tok@gw.local/api/log/self?key=sk-1") == "https://gw.local/api/log/self"
