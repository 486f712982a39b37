"""Call tables too big for one process: buckets of whole sessions, analysed by the functions of every other command.

The way of the rows: :mod:`plan` (which files, in which parts) -> :mod:`cells` and :mod:`addresses` (reading) ->
:mod:`shuffle` (sorting into buckets on disk) -> :mod:`buckets` (session by session) -> a tally, by :mod:`run` in a loop
or by :mod:`cluster` with Dask. What is tallied is given by the caller (:class:`monitor.fleet.crew.Tally`).
"""
