"""How the running kernel was built.

Answers: what one CONFIG option is set to. Does not answer: what was changed since the boot.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.host.finding import Absent, Evidence, Unclear

if TYPE_CHECKING:
    from tare.host.machine import Machine

# A kernel's configuration is about 300 kB of text; what unpacks to more is not one.
_LARGEST_BYTES = 8 << 20
_GZIP = 16 + zlib.MAX_WBITS


@dataclass(frozen=True, slots=True)
class KernelConfig:
    """Options by name, with the file that they were read from."""

    source: str
    options: dict[str, str]

    def option(self, name: str) -> Evidence:
        """Return `CONFIG_name`; an option that is not set has the value `not set`."""
        return Evidence(f"{self.source} CONFIG_{name}", self.options.get(name, "not set"))

    def is_on(self, name: str) -> bool:
        """Say whether `CONFIG_name` is built in or a module."""
        return self.options.get(name) in ("y", "m")


def find(machine: Machine) -> KernelConfig:
    """Return the configuration of the running kernel.

    Raises
    ------
    Unclear
        If neither the kernel nor /boot tells it.
    """
    places = ["/proc/config.gz"]
    release = machine.maybe("/proc/sys/kernel/osrelease")
    if release is not None and release.value and "/" not in release.value:
        places += [f"/boot/config-{release.value}", f"/lib/modules/{release.value}/config"]
    for place in places:
        if "\0" in place:
            continue
        try:
            packed = machine.raw(place)
        except (Absent, Unclear):
            continue
        text = _unpack(place, packed) if place.endswith(".gz") else packed
        return KernelConfig(place, _parse(text.decode(errors="replace")))
    raise Unclear(
        " or ".join(places),
        "the kernel does not say how it was built",
        "install the kernel's configuration file in /boot, or `modprobe configs`",
    )


def _unpack(place: str, packed: bytes) -> bytes:
    try:
        return zlib.decompressobj(_GZIP).decompress(packed, _LARGEST_BYTES)
    except zlib.error as cause:
        raise Unclear(place, f"does not unpack: {cause}") from None


def _parse(text: str) -> dict[str, str]:
    options = {}
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals and name.startswith("CONFIG_"):
            options[name.removeprefix("CONFIG_")] = value.strip('"')
    return options
