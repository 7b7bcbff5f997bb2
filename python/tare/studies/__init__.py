"""The published studies: protocol, published tables, rerun, side by side. One folder to each.

A folder offers `steps(cpus)`, its protocol as runs of the probe, and `views(recordings)`, its
tables beside ours (`tare.measure.Study`). Published numbers are data files, never typed into code.
"""
