//! Every table of a recording, declared once: the writer checks against it, the reference page
//! (docs/reference/recording.md) is generated from it, Python reads the files themselves.

/// Type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Unsigned, 32 bit.
    U32,
    /// Unsigned, 64 bit.
    U64,
    /// Signed, 64 bit.
    I64,
    /// Floating point, 64 bit.
    F64,
    /// UTF-8 text.
    Text,
}

/// One column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Name; its ending is its unit.
    pub name: &'static str,
    /// Type.
    pub kind: Kind,
    /// Unit in words, `-` for none.
    pub unit: &'static str,
    /// May be null, and what null means.
    pub null: Option<&'static str>,
    /// What it holds.
    pub doc: &'static str,
}

/// One table.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Name; the file is `NAME.parquet`.
    pub name: &'static str,
    /// What one row is.
    pub doc: &'static str,
    /// Columns in order.
    pub columns: &'static [Column],
}

const fn col(name: &'static str, kind: Kind, unit: &'static str, doc: &'static str) -> Column {
    Column { name, kind, unit, null: None, doc }
}

const fn opt(
    name: &'static str,
    kind: Kind,
    unit: &'static str,
    null: &'static str,
    doc: &'static str,
) -> Column {
    Column { name, kind, unit, null: Some(null), doc }
}

const TRACE_ID: Column = col("trace_id", Kind::U32, "-", "row of `traces` that this belongs to");

/// One row = one loop on one CPU, once.
pub const TRACES: Table = Table {
    name: "traces",
    doc: "One trace: one loop on one CPU, once.",
    columns: &[
        col("trace_id", Kind::U32, "-", "number of the trace, from 0"),
        col("loop", Kind::Text, "-", "`timestamps`, `selfish`, `fwq` or `ftq`"),
        col("cpu", Kind::U32, "-", "CPU that the trace was asked to run on"),
        opt("cpu_after", Kind::U32, "-", "the OS does not tell", "CPU that it ran on at its end"),
        col("group", Kind::U32, "-", "traces of one group started together on several CPUs"),
        col("repetition", Kind::U32, "-", "repetition of the same treatment, from 0"),
        col(
            "window",
            Kind::U32,
            "-",
            "part of one measurement, from 0: a real-time loop longer than the OS lets it spin at a stretch runs in several windows with rests between, each a trace and a group of its own; the same loop, cpu, repetition, memory_state and quantum_ns belong together",
        ),
        opt(
            "memory_state",
            Kind::Text,
            "-",
            "none was asked for",
            "how memory was allocated before: `aligned16-small`, `aligned16-large`, `aligned4096-small`, `aligned4096-large`, `prime-small`, `prime-large`",
        ),
        col("start_ticks", Kind::U64, "ticks", "counter at the first reading"),
        col("end_ticks", Kind::U64, "ticks", "counter at the last reading"),
        opt(
            "start_skew_ticks",
            Kind::I64,
            "ticks",
            "the group has one CPU",
            "first reading, after the earliest of the group",
        ),
        col(
            "samples",
            Kind::U64,
            "-",
            "readings that the loop made after the first (deltas, whether kept or not), quanta or slots",
        ),
        opt(
            "floor_ticks",
            Kind::F64,
            "ticks",
            "not of this loop",
            "usual length of one undisturbed iteration of this loop (mean of the mode's neighbourhood during calibration)",
        ),
        opt(
            "threshold_ticks",
            Kind::U64,
            "ticks",
            "the loop keeps everything",
            "smallest gap that was kept as a detour",
        ),
        opt(
            "quantum_ns",
            Kind::U64,
            "ns",
            "not of this loop",
            "FWQ: length aimed at; FTQ: length of a slot",
        ),
        opt(
            "work_per_quantum",
            Kind::U64,
            "work units",
            "not of this loop",
            "FWQ: work units in each quantum",
        ),
        opt(
            "page_faults_minor",
            Kind::U64,
            "-",
            "the OS does not tell per thread",
            "page faults of the measuring thread inside the window",
        ),
        opt(
            "page_faults_major",
            Kind::U64,
            "-",
            "the OS does not tell per thread",
            "same, with I/O",
        ),
        opt(
            "switches_voluntary",
            Kind::U64,
            "-",
            "the OS does not tell per thread",
            "context switches of the measuring thread inside the window that it asked for",
        ),
        opt(
            "switches_involuntary",
            Kind::U64,
            "-",
            "the OS does not tell per thread",
            "context switches forced upon it",
        ),
        opt(
            "cpu_time_ns",
            Kind::U64,
            "ns",
            "the OS does not tell per thread",
            "CPU time that the OS says the measuring thread used inside the window",
        ),
        col(
            "lost_records",
            Kind::U64,
            "-",
            "detours, quanta or slots that did not fit into the buffer",
        ),
        col("lost_ticks", Kind::U64, "ticks", "their summed length (gaps; for selfish only)"),
        col(
            "wrapped_deltas",
            Kind::U64,
            "-",
            "deltas of 2^32 ticks and more; `delta_ticks` holds them modulo 2^32",
        ),
    ],
};

/// Timestamps loop.
pub const DELTAS: Table = Table {
    name: "deltas",
    doc: "One delta between two successive counter readings (timestamps loop), in order of time within a trace.",
    columns: &[
        TRACE_ID,
        col("delta_ticks", Kind::U32, "ticks", "this reading minus the one before, modulo 2^32"),
    ],
};

/// Selfish loop.
pub const DETOURS: Table = Table {
    name: "detours",
    doc: "One gap at or above the threshold (selfish loop), in order of time within a trace.",
    columns: &[
        TRACE_ID,
        col("start_ticks", Kind::U64, "ticks", "counter reading before the gap"),
        col(
            "gap_ticks",
            Kind::U64,
            "ticks",
            "reading after it minus the one before; the detour's length is this minus the trace's floor",
        ),
    ],
};

/// FWQ loop.
pub const QUANTA: Table = Table {
    name: "quanta",
    doc: "One fixed work quantum (FWQ), in order of time within a trace.",
    columns: &[
        TRACE_ID,
        col("start_ticks", Kind::U64, "ticks", "counter before the work"),
        col("duration_ticks", Kind::U64, "ticks", "time that the work took"),
    ],
};

/// FTQ loop.
pub const SLOTS: Table = Table {
    name: "slots",
    doc: "One fixed time quantum (FTQ): slot i covers [start + i x slot, start + (i+1) x slot) of an absolute grid. A slot that the loop slept through entirely has a row with work 0.",
    columns: &[
        TRACE_ID,
        col("slot", Kind::U64, "-", "number of the slot, from 0"),
        col("work", Kind::U64, "work units", "units finished in the slot"),
    ],
};

/// /proc/stat per CPU.
pub const CPU_TIMES: Table = Table {
    name: "cpu_times",
    doc: "What each CPU did during the window of the conditions; kept by the OS, mostly in ticks.",
    columns: &[
        col("cpu", Kind::U32, "-", "CPU"),
        opt("user_ns", Kind::U64, "ns", "the OS does not tell", "user mode, nice included"),
        opt("system_ns", Kind::U64, "ns", "the OS does not tell", "kernel mode"),
        opt("irq_ns", Kind::U64, "ns", "the OS does not tell", "interrupt handlers"),
        opt("softirq_ns", Kind::U64, "ns", "the OS does not tell", "softirqs"),
        opt("idle_ns", Kind::U64, "ns", "the OS does not tell", "idle, waiting for I/O included"),
        opt(
            "steal_ns",
            Kind::U64,
            "ns",
            "the OS does not tell",
            "given to others by the hypervisor",
        ),
    ],
};

/// /proc/interrupts.
pub const INTERRUPTS: Table = Table {
    name: "interrupts",
    doc: "Interrupts of one line on one CPU during the window of the conditions; lines that stayed at zero are left out.",
    columns: &[
        col("line", Kind::Text, "-", "`24`, `LOC`, ..."),
        opt("name", Kind::Text, "-", "the OS gives none", "device or meaning"),
        col("cpu", Kind::U32, "-", "CPU"),
        col("count", Kind::U64, "-", "how many"),
    ],
};

/// /proc/softirqs.
pub const SOFTIRQS: Table = Table {
    name: "softirqs",
    doc: "Softirqs of one kind on one CPU during the window of the conditions; kinds that stayed at zero are left out.",
    columns: &[
        col("kind", Kind::Text, "-", "`TIMER`, `NET_RX`, ..."),
        col("cpu", Kind::U32, "-", "CPU"),
        col("count", Kind::U64, "-", "how many"),
    ],
};

/// All of them, in the order of the reference page.
pub const ALL: &[Table] =
    &[TRACES, DELTAS, DETOURS, QUANTA, SLOTS, CPU_TIMES, INTERRUPTS, SOFTIRQS];
