//! A [`Window`] as rows of the recording's tables `cpu_times`, `interrupts` and `softirqs`.

use crate::{CpuTimes, CpuTimesRow, Window};
use std::sync::Arc;
use tare_record::arrow::{ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array};
use tare_record::{RecordError, RecordingWriter, batch, tables};

impl Window {
    /// Append all rows. A table that the OS tells nothing about is left out of the recording.
    ///
    /// # Errors
    /// As [`RecordingWriter::append`].
    pub fn append_to(&self, recording: &mut RecordingWriter) -> Result<(), RecordError> {
        if !self.cpu_times.is_empty() {
            recording.append(&tables::CPU_TIMES, &self.cpu_times_batch()?)?;
        }
        if !self.interrupts.is_empty() {
            recording.append(&tables::INTERRUPTS, &self.interrupts_batch()?)?;
        }
        if !self.softirqs.is_empty() {
            recording.append(&tables::SOFTIRQS, &self.softirqs_batch()?)?;
        }
        Ok(())
    }

    fn cpu_times_batch(&self) -> Result<RecordBatch, RecordError> {
        let rows = &self.cpu_times;
        let times = |column: fn(&CpuTimes) -> Option<u64>| -> ArrayRef {
            let values = rows.iter().map(|row: &CpuTimesRow| column(&row.times));
            Arc::new(values.collect::<UInt64Array>())
        };
        batch(
            &tables::CPU_TIMES,
            vec![
                numbers(rows.iter().map(|row| row.cpu)),
                times(|times| times.user_ns),
                times(|times| times.system_ns),
                times(|times| times.irq_ns),
                times(|times| times.softirq_ns),
                times(|times| times.idle_ns),
                times(|times| times.steal_ns),
            ],
        )
    }

    fn interrupts_batch(&self) -> Result<RecordBatch, RecordError> {
        let rows = &self.interrupts;
        let names: StringArray = rows.iter().map(|row| row.name.as_deref()).collect();
        batch(
            &tables::INTERRUPTS,
            vec![
                texts(rows.iter().map(|row| row.line.as_str())),
                Arc::new(names),
                numbers(rows.iter().map(|row| row.cpu)),
                counts(rows.iter().map(|row| row.count)),
            ],
        )
    }

    fn softirqs_batch(&self) -> Result<RecordBatch, RecordError> {
        let rows = &self.softirqs;
        batch(
            &tables::SOFTIRQS,
            vec![
                texts(rows.iter().map(|row| row.kind.as_str())),
                numbers(rows.iter().map(|row| row.cpu)),
                counts(rows.iter().map(|row| row.count)),
            ],
        )
    }
}

fn numbers(values: impl Iterator<Item = u32>) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(values))
}

fn counts(values: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(values))
}

fn texts<'a>(values: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InterruptRow, SoftirqRow};
    use tare_record::arrow::Array;

    #[test]
    fn rows_fit_the_declared_tables_and_unknown_stays_null() {
        let times = CpuTimes { user_ns: Some(7), ..CpuTimes::default() };
        let (line, kind, name) = ("24".to_owned(), "TIMER".to_owned(), None);
        let window = Window {
            cpu_times: vec![CpuTimesRow { cpu: 3, times }],
            interrupts: vec![InterruptRow { line, name, cpu: 0, count: 5 }],
            softirqs: vec![SoftirqRow { kind, cpu: 1, count: 2 }],
            ..Window::default()
        };
        let cpu_times = window.cpu_times_batch().expect("as declared");
        let nulls: Vec<usize> = cpu_times.columns().iter().map(|c| c.null_count()).collect();
        assert_eq!(nulls, [0, 0, 1, 1, 1, 1, 1]);
        assert_eq!(window.interrupts_batch().expect("as declared").column(1).null_count(), 1);
        assert_eq!(window.softirqs_batch().expect("as declared").num_rows(), 1);
    }
}
