"""OS noise: what a recording of the four detour loops says.

Pure inference (arrays in, frozen dataclasses out): `analysis.analyse` is the door. `cutoffs`,
`fraction` and `periods` can be used by themselves; `profile` is the reusable result, `simulate`
makes noise from it. `view` shows it.
"""
