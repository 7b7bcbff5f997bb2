"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# A test that fails because the machine is busy tells nothing about the code.
settings.register_profile("tare", deadline=None)
settings.load_profile("tare")
