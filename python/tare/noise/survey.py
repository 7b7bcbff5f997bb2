"""Noise in a survey: every loop once, on every CPU at the same time, in less than a minute.

Ten seconds for each loop that runs for a time: 2 500 ticks of a 250 Hz kernel, and events that come
once a second still come ten times. FTQ runs with both of its slot lengths. With the rests that
real-time throttling asks for that is about 45 s.
"""

from __future__ import annotations

from tare.measure import Step

DURATION = "10s"
SAMPLES = 1_000_000


def steps(cpus: str) -> list[Step]:
    """Return the one run of the probe that measures it.

    Parameters
    ----------
    cpus : str
        As the flag `--cpus` takes it.
    """
    loops = [f"--loop={loop}" for loop in ("timestamps", "selfish", "fwq", "ftq")]
    flags = [f"--cpus={cpus}", f"--duration={DURATION}", f"--samples={SAMPLES}"]
    return [Step("noise", ["noise", *loops, *flags])]
