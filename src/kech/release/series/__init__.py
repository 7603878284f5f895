"""Series of releases of a growing table: cohorts that come and go as a whole, under one label for ever."""

from kech.release.series.series import Series, open_series

__all__ = ["Series", "open_series"]
