"""Every check of the doctor, by theme: the table to which a new check is added."""

from typing import Final

from tare.host.checks import (
    activity,
    clock,
    cpu,
    elsewhere,
    idle,
    isolation,
    kernel,
    memory,
    rights,
    scheduler,
    tracing,
    virtual,
)
from tare.host.finding import Check

ALL: Final[tuple[Check, ...]] = (
    *cpu.CHECKS,
    *isolation.CHECKS,
    *scheduler.CHECKS,
    *clock.CHECKS,
    *idle.CHECKS,
    *memory.CHECKS,
    *kernel.CHECKS,
    *virtual.CHECKS,
    *activity.CHECKS,
    *tracing.CHECKS,
    *rights.CHECKS,
    *elsewhere.CHECKS,
)
