"""Charts, one file per form: arrays in, a `Picture` out.

Way of the data: measure -> recording -> infer -> *show*. A form knows what its axes mean and how it
is read; it knows no capability, computes no statistics and writes no file. Which question a form
answers is said at the top of its file.
"""

from tare.charts.picture import Picture

__all__ = ["Picture"]
