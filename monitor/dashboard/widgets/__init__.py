"""Widgets that draw what the view model says. None of them computes a number."""
