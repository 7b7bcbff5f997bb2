"""`tare noise`: how much time is taken from a program, and in which pattern."""

from __future__ import annotations

from typing import Annotated

import typer

from tare.cli import options

# Names and meanings are those of `tare-probe noise`, which judges the values: one definition.
Loops = Annotated[
    list[str] | None,
    typer.Option(
        "--loop",
        metavar="NAME",
        help="`selfish`, `timestamps`, `fwq` or `ftq`; can be given again. Default: selfish.",
    ),
]
Samples = Annotated[
    str | None,
    typer.Option("--samples", metavar="N", help="timestamps: how many deltas to keep."),
]
Repeat = Annotated[
    str | None, typer.Option("--repeat", metavar="N", help="How often to do the whole.")
]
MemoryStates = Annotated[
    list[str] | None,
    typer.Option(
        "--memory-state",
        metavar="NAME",
        help="How memory is allocated before each trace, `all` or `none`; can be given again.",
    ),
]
Quantum = Annotated[
    str | None, typer.Option("--quantum", metavar="TIME", help="fwq: length aimed at, `1ms`.")
]
Slots = Annotated[
    list[str] | None,
    typer.Option("--slot", metavar="TIME", help="ftq: length of a slot; can be given again."),
]
Threshold = Annotated[
    str | None,
    typer.Option("--threshold", metavar="TIME", help="selfish: smallest gap kept, or `auto`."),
]
Priority = Annotated[
    str | None,
    typer.Option("--priority", metavar="NAME", help="`fifo` (goes on if refused) or `other`."),
]
StartAt = Annotated[
    str | None,
    typer.Option(
        "--start-at",
        metavar="TIME",
        help="Wall-clock time to start at, on several machines: RFC 3339, or unix seconds.",
    ),
]


def noise(
    *,
    loop: Loops = None,
    cpus: options.Cpus = None,
    duration: options.Duration = None,
    samples: Samples = None,
    repeat: Repeat = None,
    memory_state: MemoryStates = None,
    quantum: Quantum = None,
    slot: Slots = None,
    threshold: Threshold = None,
    priority: Priority = None,
    start_at: StartAt = None,
    output: options.Output = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
    debug: options.Debug = False,
) -> None:
    """Measure how much time is taken from a program, and in which pattern."""
    del debug
    terminal = options.terminal(quiet=quiet, verbose=verbose, no_color=no_color)
    from tare import measure
    from tare.report import capabilities

    flags = options.flags(
        loop=loop,
        cpus=cpus,
        duration=duration,
        samples=samples,
        repeat=repeat,
        memory_state=memory_state,
        quantum=quantum,
        slot=slot,
        threshold=threshold,
        priority=priority,
        start_at=start_at,
    )
    folder = output or options.default_folder("noise")
    step = measure.Step("noise", ["noise", *flags])
    with terminal.progress("measuring") as on_progress:
        recorded = measure.run_step(step, folder, on_progress=on_progress, on_log=terminal.detail)
    views = capabilities.views([recorded])
    options.answer(terminal, [recorded], views, json=json)


def add(app: typer.Typer) -> None:
    """Make it a verb."""
    app.command()(noise)
