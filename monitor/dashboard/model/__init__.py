"""The view model: pure functions and small classes from session views to lines of styled words and cells.

Nothing here imports Textual. Styles are names; :mod:`monitor.dashboard.themes` gives them colours.
"""
