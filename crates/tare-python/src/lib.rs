//! Python glue: the kernels of `tare-kernels` as `tare._native`. Never used while measuring.

use pyo3::prelude::*;

#[pymodule]
fn _native(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
