"""The study as a page: the published table 1 beside ours, their cut-off beside the automatic one.

Place on the way of the data: inference -> *views*. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tare import recording, units
from tare.charts import before_after, length_distribution
from tare.charts.picture import Picture
from tare.recording import Recording
from tare.report.view import Column, Doubt, Figure, Table, View
from tare.studies.rehn2014.analysis import Study, analyse
from tare.studies.rehn2014.protocol import published

NOT_GIVEN = "-"
"""Cell of a number that the paper does not give: not unknown here, but never published."""

_RULE_NAMES = {
    "raw": "raw data",
    "rehn": "P95 + 3.0 (P95 - Q0), the paper's",
    "automatic": "automatic",
    "tukey": "Tukey",
    "one-sided": "one-sided",
    "adjusted-boxplot": "adjusted boxplot",
}


def views(recordings: Sequence[Recording]) -> list[View]:
    """Set the published tables beside what was measured here.

    Parameters
    ----------
    recordings : sequence of Recording
        Of the protocol, from one host.

    Returns
    -------
    list of View

    Raises
    ------
    RecordingError
        If the hosts are not alike.
    ValueError
        If no recording holds a trace of the protocol.
    """
    recording.check_mergeable(recordings)
    study = analyse(recordings)
    host = recordings[0].host.hostname or "this machine"
    return [
        View(
            name="rehn2014",
            title=f"Rehn et al. 2014: OS noise on twenty tablets, and on {host}",
            sentences=_sentences(study),
            figures=_figures(study),
            doubts=_doubts(study),
            pictures=_pictures(study),
            tables=[_table_1(study), _cutoffs(study), _memory_states(study), _medcouples(study)],
            recordings=recordings,
            data=study,
        )
    ]


def _sentences(study: Study) -> list[str]:
    raw, rehn, ours = (study.moment(rule) for rule in ("raw", "rehn", "automatic"))
    known = published()
    return [
        f"Raw, the {len(study.traces)} traces of this machine have a mean skewness of "
        f"{_number(raw.mean_skewness)} and a mean kurtosis of {_number(raw.mean_kurtosis)}; the "
        f"tablets had {_number(known['mean skewness of the raw traces'])} and "
        f"{_number(known['mean kurtosis of the raw traces'])}.",
        f"The paper's cut-off leaves {_number(rehn.mean_skewness)} and "
        f"{_number(rehn.mean_kurtosis)} here (there: "
        f"{_number(known['mean skewness of the cleaned traces'])} and "
        f"{_number(known['mean kurtosis of the cleaned traces'])}) and removes "
        f"{units.share(rehn.removed_share)} of the samples.",
        f"The automatic rule, which no eye has to check, leaves {_number(ours.mean_skewness)} and "
        f"{_number(ours.mean_kurtosis)} and removes {units.share(ours.removed_share)}.",
    ]


def _figures(study: Study) -> list[Figure]:
    rules = {rule.rule: rule for rule in study.rules}
    figures = [
        Figure(
            label=f"{_RULE_NAMES[name]} cut-off",
            value=units.time(rules[name].median_ns),
            note=f"median of {rules[name].traces} traces, {units.time(rules[name].lowest_ns)} to "
            f"{units.time(rules[name].highest_ns)}",
        )
        for name in ("rehn", "automatic")
    ]
    span = f"{units.significant(study.lowest_medcouple)} to " + units.significant(
        study.highest_medcouple
    )
    known = published()
    there = f"{known['smallest medcouple']:g} to {known['largest medcouple']:g}"
    return [*figures, Figure("medcouple of the raw traces", span, f"tablets: {there}")]


def _doubts(study: Study) -> list[Doubt]:
    doubts = [
        Doubt(
            "20 repetitions on one machine stand for 20 devices.",
            "Repetitions share hardware and moment, so they are more alike than devices are.",
        ),
        Doubt(
            "The paper does not name its estimators of skewness and kurtosis.",
            "Ours are the population ones; kurtosis is not the excess (3 for a normal "
            "distribution): if theirs is, 3 is to be added to their figures.",
        ),
    ]
    undefined = study.moment("automatic").undefined
    if undefined:
        doubts.append(
            Doubt(
                f"{undefined} of {len(study.traces)} cleaned traces are constant.",
                "A stepped counter shows one value only; these have no skewness and are left out "
                "of the means.",
            )
        )
    return doubts


def _table_1(study: Study) -> Table:
    there = {
        "raw": ("mean skewness of the raw traces", "mean kurtosis of the raw traces"),
        "rehn": ("mean skewness of the cleaned traces", "mean kurtosis of the cleaned traces"),
    }
    rows = []
    for row in study.moments:
        skewness, kurtosis = there.get(row.rule, (None, None))
        rows.append(
            [
                _RULE_NAMES.get(row.rule, row.rule),
                _printed(skewness),
                row.mean_skewness,
                _printed(kurtosis),
                row.mean_kurtosis,
                row.traces,
                row.removed_share,
            ]
        )
    return Table(
        name="table-1",
        title="Table 1: mean skewness and kurtosis, there and here",
        columns=[
            Column("cleaned by"),
            Column("skewness there", "number"),
            Column("skewness here", "number"),
            Column("kurtosis there", "number"),
            Column("kurtosis here", "number"),
            Column("traces here", "count"),
            Column("removed", "share"),
        ],
        rows=rows,
        caption="There: 20 tablets. The paper cleaned by its own rule only.",
    )


def _cutoffs(study: Study) -> Table:
    return Table(
        name="cutoffs",
        title="Every rule's cut-off on these traces",
        columns=[
            Column("rule"),
            Column("lowest", "time_ns"),
            Column("median", "time_ns"),
            Column("highest", "time_ns"),
            Column("removed", "share"),
            Column("traces it suits", "count"),
            Column("traces", "count"),
        ],
        rows=[
            [
                _RULE_NAMES.get(rule.rule, rule.rule),
                rule.lowest_ns,
                rule.median_ns,
                rule.highest_ns,
                rule.removed_share,
                rule.suited,
                rule.traces,
            ]
            for rule in study.rules
        ],
    )


def _memory_states(study: Study) -> Table:
    return Table(
        name="memory-states",
        title="Memory states",
        columns=[
            Column("memory state"),
            Column("traces", "count"),
            Column("median delta", "time_ns"),
            Column("mean skewness", "number"),
            Column("the paper's cut-off", "time_ns"),
            Column("automatic cut-off", "time_ns"),
            Column("longest delta", "time_ns"),
        ],
        rows=[
            [
                state.memory_state,
                state.traces,
                state.median_delta_ns,
                state.mean_skewness,
                state.rehn_ns,
                state.automatic_ns,
                state.longest_ns,
            ]
            for state in study.states
        ],
        caption="How memory was allocated before the trace; medians over the traces of a state.",
    )


def _medcouples(study: Study) -> Table:
    known = published()
    values = np.array([trace.medcouple for trace in study.traces])
    unsuited = int((np.abs(values) > 0.6).sum())
    return Table(
        name="medcouples",
        title="Medcouple of the raw traces",
        columns=[
            Column("where"),
            Column("smallest", "number"),
            Column("largest", "number"),
            Column("beyond ±0.6", "count"),
            Column("traces", "count"),
        ],
        rows=[
            [
                "tablets",
                known["smallest medcouple"],
                known["largest medcouple"],
                NOT_GIVEN,
                NOT_GIVEN,
            ],
            ["here", study.lowest_medcouple, study.highest_medcouple, unsuited, len(values)],
        ],
        caption="Beyond ±0.6 the adjusted boxplot is unsuited (Hubert & Vandervieren 2008).",
    )


def _pictures(study: Study) -> list[Picture]:
    trace = study.exemplar
    cutoff = trace.cutoff("rehn")
    place = f"CPU {trace.cpu}, repetition {trace.repetition}, {trace.memory_state or 'no state'}"
    pair = before_after.before_after(
        "figure-3",
        f"Figure 3, the most skewed trace ({place})",
        np.arange(trace.delta_ns.size, dtype=np.float64),
        trace.delta_ns,
        cutoff.value,
        rule="paper's",
        n=trace.tally.n,
        removed=cutoff.removed,
    )
    by_state: dict[str, list[np.ndarray[tuple[int], np.dtype[np.float64]]]] = {}
    for one in study.traces:
        by_state.setdefault(one.memory_state or "none", []).append(one.delta_ns)
    lengths = length_distribution.length_distribution(
        "memory-states",
        "Do memory states differ? Lengths of all deltas",
        {state: np.concatenate(parts) for state, parts in by_state.items()},
        series="memory state",
        what="deltas",
        length_title="delta",
    )
    return [*pair, lengths]


def _printed(quantity: str | None) -> str:
    """Write a published number with the digits that the paper prints."""
    return NOT_GIVEN if quantity is None else f"{published()[quantity]:.2f}"


def _number(value: float | None) -> str:
    return units.UNKNOWN if value is None else units.significant(value, 4)
