"""The noise profile: what a host's noise looks like, small enough to keep and to use again.

Answers: floor, threshold, noise fraction, rate, lengths, periods and what they leave unexplained,
for each CPU, with intervals, conditions and the host's fingerprint; and which detours to simulate
so that a program meets noise like this. Does not analyse (`tare.noise.analysis` does), compare
(`tare.noise.profile_compare`) or touch files (`tare.noise.profile_file`).

Place on the way of the data: the end of inference; input of benchmarking and of simulation at
scale. The file is documented in docs/reference/profile.md, generated from the models below.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

import tare
from tare.errors import RecordingError
from tare.noise.periods import PeriodFamily
from tare.noise.results import GroupSummary, NoiseAnalysis, TraceAnalysis
from tare.noise.simulate import Binned, Family, Periodic, Random
from tare.recording import fingerprint

FORMAT: Literal["tare-noise-profile"] = "tare-noise-profile"
SCHEMA_VERSION = 1

BINS_PER_DECADE = 10
"""Bins of the length histogram: 26 % wide each, as fine as a log axis shows."""

PREFERRED = ("selfish", "timestamps", "fwq", "ftq")
"""Loop that stands for a CPU where several ran: the one that sees detours best comes first."""

_Finite = Annotated[float, Field(allow_inf_nan=False)]
_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=0)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class LengthHistogram(_Part):
    """How long detours are, on a log axis, without the floor."""

    first_edge_ns: _Positive = Field(description="lower edge of the first bin, ns")
    bins_per_decade: Annotated[int, Field(ge=1)] = Field(
        description="edges are first_edge_ns x 10^(i / bins_per_decade)"
    )
    counts: list[_Count] = Field(description="detours in each bin")
    mean_ns: _NotNegative | None = Field(
        description="exact mean length, ns, finer than the bins; null without detours"
    )

    def edges(self) -> NDArray[np.float64]:
        """Edges of the bins, ns."""
        powers = np.arange(len(self.counts) + 1) / self.bins_per_decade
        return np.asarray(self.first_edge_ns * 10.0**powers)


class LengthQuantile(_Part):
    """One quantile of the lengths."""

    p: Annotated[float, Field(ge=0, le=1)] = Field(description="share of detours not longer")
    value_ns: _NotNegative = Field(description="length, ns")
    low_ns: _NotNegative | None = Field(description="interval at 0.95, ns; null: too few detours")
    high_ns: _NotNegative | None = Field(description="the same")


class ProfilePeriod(_Part):
    """Detours that come at regular intervals."""

    name: str = Field(description="timer that the period fits, else the period; only a hint")
    period_ns: _Positive = Field(description="distance of the planned starts, ns")
    period_error_ns: _NotNegative = Field(description="its standard deviation, ns")
    jitter_ns: _NotNegative = Field(description="standard deviation of a start around its plan, ns")
    present_share: _NotNegative = Field(description="detours over periods")
    share: _NotNegative = Field(description="time taken over observed time")
    lengths: LengthHistogram = Field(description="lengths of its detours")


class CpuProfile(_Part):
    """Noise of one CPU."""

    cpu: _Count = Field(description="number of the CPU")
    loop: Literal["timestamps", "selfish", "fwq", "ftq"] = Field(description="loop that measured")
    traces: Annotated[int, Field(ge=1)] = Field(description="repetitions behind the figures")
    observed_ns: _Positive = Field(description="observed time of all, ns")
    floor_ns: _NotNegative | None = Field(description="undisturbed iteration, ns; null for FTQ")
    step_ns: _NotNegative = Field(description="step of the counter, ns")
    threshold_ns: _NotNegative | None = Field(
        description="smallest gap counted as a detour, ns; see docs/methods/noise-cutoffs.md"
    )
    cutoff_rule: str | None = Field(
        description="rule that gave the threshold; null where the probe did (selfish)"
    )
    fraction: _Finite = Field(description="time taken over observed time")
    fraction_low: _Finite | None = Field(description="interval at 0.95; null: too few detours")
    fraction_high: _Finite | None = Field(description="the same")
    rate_per_s: _NotNegative = Field(description="detours in a second, lost ones included")
    rate_low_per_s: _NotNegative | None = Field(description="interval at 0.95")
    rate_high_per_s: _NotNegative | None = Field(description="the same")
    lengths: LengthHistogram = Field(description="lengths of all detours")
    quantiles: list[LengthQuantile] = Field(description="of the longest trace")
    longest_ns: _NotNegative | None = Field(description="longest detour, ns; null: there was none")
    periods: list[ProfilePeriod] = Field(description="of the longest trace, by share")
    unexplained_rate_per_s: _NotNegative = Field(description="detours of no period, in a second")
    unexplained_share: _NotNegative = Field(description="their time over observed time")
    unexplained_lengths: LengthHistogram = Field(description="their lengths")
    lost_records: _Count = Field(description="records that did not fit, in all traces")
    doubts: list[str] = Field(description="what makes the figures doubtful")


class Versions(_Part):
    """What made the profile."""

    tare: str = Field(description="version of the inference")
    probe: str = Field(description="name and version of the program that measured")
    recording_schema: int = Field(description="schema version of the recording")


class NoiseProfile(_Part):
    """The whole file."""

    format: Literal["tare-noise-profile"] = Field(description="always this")
    schema_version: Annotated[int, Field(ge=1)] = Field(description="of this file")
    versions: Versions = Field(description="what made it")
    measured_at: str = Field(description="start of the recording, RFC 3339, UTC")
    hostname: str | None = Field(description="name of the machine; not part of the fingerprint")
    fingerprint: str = Field(description="agrees where two hosts agree in every field")
    host: dict[str, Any] = Field(description="the host, as in recording.json")
    clock: dict[str, Any] = Field(description="the clock, as in recording.json")
    conditions: dict[str, Any] = Field(description="conditions, as in recording.json")
    cpus: list[CpuProfile] = Field(description="one to each measured CPU, ascending")

    @model_validator(mode="after")
    def _one_entry_a_cpu(self) -> NoiseProfile:
        numbers = [entry.cpu for entry in self.cpus]
        if not numbers or sorted(set(numbers)) != numbers:
            msg = "cpus must hold at least one, each once, ascending"
            raise ValueError(msg)
        return self

    def to_dict(self) -> dict[str, Any]:
        """Turn it into what JSON can hold; unknown is None."""
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, data: object) -> NoiseProfile:
        """Check and take a dictionary as `to_dict` made it.

        Raises
        ------
        RecordingError
            If it is not a profile, of a newer schema, or a field is wrong.
        """
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise RecordingError(
                f"not a noise profile (its `format` is not `{FORMAT}`)",
                hint="give a file that `tare noise` wrote as a profile",
            )
        version = data.get("schema_version")
        if isinstance(version, int) and version > SCHEMA_VERSION:
            raise RecordingError(
                f"profile of schema version {version}, this tare reads up to {SCHEMA_VERSION}",
                hint="update tare",
            )
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "the file"
            raise RecordingError(
                f"profile: {where}: {first['msg']}", hint="make the profile again"
            ) from error


def make_profile(analysis: NoiseAnalysis, manifest: Any) -> NoiseProfile:
    """Condense an analysis into a profile.

    Parameters
    ----------
    analysis : NoiseAnalysis
    manifest : Manifest
        Of the recording that was analysed.

    Returns
    -------
    NoiseProfile
        For each CPU the loop that sees detours best (`PREFERRED`), all repetitions pooled.
    """
    chosen: dict[int, GroupSummary] = {}
    for group in sorted(analysis.groups, key=lambda g: (PREFERRED.index(g.loop), -g.observed_ns)):
        chosen.setdefault(group.cpu, group)
    cpus = [_cpu_profile(group, analysis.traces) for _, group in sorted(chosen.items())]
    return NoiseProfile(
        format=FORMAT,
        schema_version=SCHEMA_VERSION,
        versions=Versions(
            tare=tare.__version__,
            probe=f"{manifest.tool.name} {manifest.tool.version}",
            recording_schema=manifest.schema_version,
        ),
        measured_at=manifest.started_at,
        hostname=manifest.host.hostname,
        fingerprint=fingerprint(manifest.host),
        host=manifest.host.model_dump(mode="json"),
        clock=manifest.clock.model_dump(mode="json"),
        conditions=manifest.conditions.model_dump(mode="json"),
        cpus=cpus,
    )


def _cpu_profile(group: GroupSummary, traces: Sequence[TraceAnalysis]) -> CpuProfile:
    own = [
        trace
        for trace in traces
        if (trace.loop, trace.cpu, trace.quantum_ns) == (group.loop, group.cpu, group.quantum_ns)
    ]
    main = max(own, key=lambda trace: trace.observed_ns)
    lengths = np.concatenate([trace.detours.length_ns for trace in own])
    taken = np.zeros(len(main.detours.length_ns), dtype=bool)
    for family in main.periods.families:
        taken[family.members] = True
    floors = [trace.floor_ns for trace in own if trace.floor_ns is not None]
    limits = [trace.threshold_ns for trace in own if trace.threshold_ns is not None]
    doubts = dict.fromkeys(doubt for trace in own for doubt in trace.doubts)
    return CpuProfile(
        cpu=group.cpu,
        loop=group.loop,  # type: ignore[arg-type]  # checked by the model
        traces=group.traces,
        observed_ns=group.observed_ns,
        floor_ns=float(np.mean(floors)) if floors else None,
        step_ns=main.step_ns,
        threshold_ns=float(np.mean(limits)) if limits else None,
        cutoff_rule=main.cutoff.rule if main.cutoff is not None else None,
        fraction=group.fraction,
        fraction_low=group.fraction_low,
        fraction_high=group.fraction_high,
        rate_per_s=group.rate_per_s,
        rate_low_per_s=main.rate_low_per_s,
        rate_high_per_s=main.rate_high_per_s,
        lengths=_histogram(lengths),
        quantiles=_quantiles(main),
        longest_ns=group.longest_ns,
        periods=[_period(family, main) for family in main.periods.families],
        unexplained_rate_per_s=max(0.0, main.periods.left_events) / main.observed_ns * 1e9,
        unexplained_share=max(0.0, main.periods.left_share),
        unexplained_lengths=_histogram(main.detours.length_ns[~taken]),
        lost_records=sum(trace.lost_records for trace in own),
        doubts=list(doubts),
    )


def _quantiles(trace: TraceAnalysis) -> list[LengthQuantile]:
    if trace.lengths is None:
        return []
    return [
        LengthQuantile(p=q.p, value_ns=q.estimate, low_ns=q.low, high_ns=q.high)
        for q in trace.lengths.quantiles
    ]


def _period(family: PeriodFamily, trace: TraceAnalysis) -> ProfilePeriod:
    return ProfilePeriod(
        name=family.name,
        period_ns=family.period_ns,
        period_error_ns=family.period_error_ns,
        jitter_ns=family.jitter_ns,
        present_share=family.present_share,
        share=family.share,
        lengths=_histogram(trace.detours.length_ns[family.members]),
    )


def _histogram(length_ns: NDArray[np.float64]) -> LengthHistogram:
    # A gap of exactly the floor has length 0 and no place on a log axis.
    logs = np.log10(length_ns[length_ns > 0])
    if not len(logs):
        return LengthHistogram(
            first_edge_ns=1.0, bins_per_decade=BINS_PER_DECADE, counts=[], mean_ns=None
        )
    place = np.floor(logs * BINS_PER_DECADE).astype(np.int64)
    counts = np.bincount(place - place.min())
    first = 10.0 ** (int(place.min()) / BINS_PER_DECADE)
    return LengthHistogram(
        first_edge_ns=first,
        bins_per_decade=BINS_PER_DECADE,
        counts=counts.tolist(),
        mean_ns=float(length_ns.mean()),
    )


def _drawn_from(histogram: LengthHistogram) -> Binned:
    """Lengths to draw, moved by less than a bin so that their mean is that of the histogram."""
    drawn = Binned(histogram.edges().tolist(), tuple(histogram.counts))
    if histogram.mean_ns is None:
        return drawn
    factor = histogram.mean_ns / drawn.mean()
    return Binned([edge * factor for edge in drawn.edges_ns], drawn.counts)


def families_of(profile: CpuProfile) -> tuple[Family, ...]:
    """Detours to simulate so that a program meets noise like that of a CPU.

    Parameters
    ----------
    profile : CpuProfile

    Returns
    -------
    tuple of Periodic and Random
        One to each period, and one without memory for what is unexplained (clumps are not kept).
    """
    made: list[Family] = [
        Periodic(
            period.period_ns,
            _drawn_from(period.lengths),
            jitter_ns=period.jitter_ns,
            present=min(1.0, period.present_share),
        )
        for period in profile.periods
        if any(period.lengths.counts)
    ]
    rest = profile.unexplained_lengths
    if profile.unexplained_rate_per_s > 0 and any(rest.counts):
        made.append(Random(profile.unexplained_rate_per_s, _drawn_from(rest)))
    return tuple(made)
