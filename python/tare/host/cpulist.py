"""Lists and masks of CPUs, as the Linux kernel and users write them.

Answers: which CPUs `0,2-3` or `ff,ffffffff` name, and how a set of CPUs is written.
Does not answer: which CPUs exist; `Machine` knows that.
"""

from __future__ import annotations

from collections.abc import Iterable

# Largest CPU number that is believed. Linux' NR_CPUS tops out at 8192 (arch/x86/Kconfig); the
# bound keeps a damaged file such as `0-99999999999` from filling the memory.
MAX_CPU = 65_535


def parse_list(text: str) -> frozenset[int]:
    """Read a CPU list: `0,2-3`, also with the kernel's stride form `0-7:1/2`.

    Parameters
    ----------
    text
        The list. Empty, or the kernel's `(null)`, is the empty set.

    Returns
    -------
    frozenset of int
        The CPUs.

    Raises
    ------
    ValueError
        If it is not a CPU list.
    """
    text = text.strip()
    if text in ("", "(null)"):
        return frozenset()
    cpus: set[int] = set()
    for part in text.split(","):
        span, _, stride = part.strip().partition(":")
        first, dash, last = span.partition("-")
        low = _cpu(first)
        high = _cpu(last) if dash else low
        if high < low:
            raise ValueError(f"{part!r} runs backwards")
        used, group = _stride(stride, high - low + 1)
        cpus.update(cpu for cpu in range(low, high + 1) if (cpu - low) % group < used)
    return frozenset(cpus)


def parse_mask(text: str) -> frozenset[int]:
    """Read a CPU mask in hexadecimal, 32 bits a group: `ff,ffffffff`.

    Raises
    ------
    ValueError
        If it is not a CPU mask.
    """
    groups = text.strip().split(",")
    mask = 0
    for group in groups:
        if not 1 <= len(group) <= 8 or len(groups) * 32 > MAX_CPU + 1:
            raise ValueError(f"{group!r} is not a group of a CPU mask")
        mask = mask << 32 | int(group, 16)
    if mask < 0:
        raise ValueError("a CPU mask has no sign")
    return frozenset(cpu for cpu in range(mask.bit_length()) if mask >> cpu & 1)


def write_list(cpus: Iterable[int]) -> str:
    """Write CPUs as the kernel does: `0,2-3`."""
    ordered = sorted(set(cpus))
    spans: list[list[int]] = []
    for cpu in ordered:
        if spans and cpu == spans[-1][1] + 1:
            spans[-1][1] = cpu
        else:
            spans.append([cpu, cpu])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans)


def write_mask(cpus: Iterable[int]) -> str:
    """Write CPUs as a hexadecimal mask, 32 bits a group."""
    mask = sum(1 << cpu for cpu in set(cpus))
    groups = []
    while True:
        groups.append(mask & 0xFFFFFFFF)
        mask >>= 32
        if not mask:
            break
    first, *rest = reversed(groups)
    return ",".join([f"{first:x}", *(f"{group:08x}" for group in rest)])


def _cpu(text: str) -> int:
    # isascii: int() would also take other scripts' digits, signs and underscores.
    if not (text.isascii() and text.isdigit()) or len(text) > 6 or int(text) > MAX_CPU:
        raise ValueError(f"{text!r} is not a CPU number")
    return int(text)


def _stride(text: str, length: int) -> tuple[int, int]:
    """Return (used, group) of `used/group`; without it, all of the span."""
    if not text:
        return length, length
    used, slash, group = text.partition("/")
    if not slash or _cpu(group) == 0:
        raise ValueError(f"{text!r} is not a stride")
    return _cpu(used), _cpu(group)
