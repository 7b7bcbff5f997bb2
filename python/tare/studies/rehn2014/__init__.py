"""Rehn, Hamilton & Holdsworth 2014: OS noise on twenty identical tablets.

Answers: does this machine's noise look as theirs did (clustered floor, extreme outliers), and does
their cut-off clean it? Their protocol: the same unrolled loop, 10 000 deltas, at the same moment on
20 identical devices, in several memory states. Here 20 repetitions, synchronous on all chosen CPUs,
stand for the 20 devices. Does not find a cut-off: `tare.noise.cutoffs` does.

References
----------
Rehn, Hamilton & Holdsworth 2014, "Towards an adaptive OS noise mitigation technique for
microbenchmarking on Apple iPad devices".
"""

from tare.studies.rehn2014.protocol import steps
from tare.studies.rehn2014.view import views

__all__ = ["steps", "views"]
