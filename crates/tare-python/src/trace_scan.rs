//! [`tare_kernels::TraceScan`] for Python: deltas in as uint32 arrays, results out as arrays.

use crate::{contiguous, value_error};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use tare_kernels::{LENGTH_BINS, ScanPlan, length_edges};

type Column<'py, T> = Bound<'py, PyArray1<T>>;

/// One pass over the deltas of a timestamps trace.
#[pyclass(module = "tare._native")]
pub struct TraceScan(tare_kernels::TraceScan);

#[pymethods]
impl TraceScan {
    #[new]
    #[pyo3(signature = (start_ticks, end_ticks, time_bins, threshold_ticks=None, detour_capacity=1_000_000))]
    fn new(
        start_ticks: u64,
        end_ticks: u64,
        time_bins: usize,
        threshold_ticks: Option<u64>,
        detour_capacity: usize,
    ) -> PyResult<Self> {
        let plan = ScanPlan { start_ticks, end_ticks, time_bins, threshold_ticks, detour_capacity };
        tare_kernels::TraceScan::new(plan).map(Self).map_err(value_error)
    }

    fn update(&mut self, py: Python<'_>, deltas_ticks: PyReadonlyArray1<'_, u32>) -> PyResult<()> {
        let deltas = contiguous("deltas_ticks", &deltas_ticks)?;
        py.detach(|| self.0.update(deltas)).map_err(value_error)
    }

    #[getter]
    fn samples(&self) -> u64 {
        self.0.samples()
    }

    #[getter]
    fn unaccounted_ticks(&self) -> u64 {
        self.0.unaccounted_ticks()
    }

    #[getter]
    fn detours_lost(&self) -> u64 {
        self.0.detours_lost().0
    }

    #[getter]
    fn detours_lost_ticks(&self) -> u64 {
        self.0.detours_lost().1
    }

    fn tally<'py>(&self, py: Python<'py>) -> (Column<'py, u32>, Column<'py, u64>) {
        let (values, counts): (Vec<u32>, Vec<u64>) = self.0.tally().into_iter().unzip();
        (values.into_pyarray(py), counts.into_pyarray(py))
    }

    fn time_edges<'py>(&self, py: Python<'py>) -> Column<'py, u64> {
        self.0.time_edges().into_pyarray(py)
    }

    #[staticmethod]
    fn length_edges(py: Python<'_>) -> Column<'_, u64> {
        length_edges().into_pyarray(py)
    }

    fn heat<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        self.0.heat().to_pyarray(py).reshape([self.0.plan().time_bins, LENGTH_BINS])
    }

    #[allow(clippy::type_complexity)] // four columns of one table
    fn longest<'py>(
        &self,
        py: Python<'py>,
    ) -> (Column<'py, u64>, Column<'py, u64>, Column<'py, u64>, Column<'py, u32>) {
        let longest = self.0.longest();
        (
            PyArray1::from_iter(py, longest.iter().map(|best| best.bin as u64)),
            PyArray1::from_iter(py, longest.iter().map(|best| best.index)),
            PyArray1::from_iter(py, longest.iter().map(|best| best.start_ticks)),
            PyArray1::from_iter(py, longest.iter().map(|best| best.gap_ticks)),
        )
    }

    fn detours<'py>(&self, py: Python<'py>) -> (Column<'py, u64>, Column<'py, u32>) {
        let detours = self.0.detours();
        (
            PyArray1::from_iter(py, detours.iter().map(|detour| detour.start_ticks)),
            PyArray1::from_iter(py, detours.iter().map(|detour| detour.gap_ticks)),
        )
    }
}
