//! Python glue: the kernels of `tare-kernels` as `tare._native`. Never used while measuring.
//!
//! Every long call releases the interpreter lock. The arrays are borrowed, not copied: as with
//! NumPy's own functions, a thread that writes to an array while a call reads it gets what it asked
//! for. Errors become `ValueError` with the text of the kernel; `_native.pyi` has the types.

mod trace_scan;

use numpy::{Element, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Exact medcouple of float64 values; see `tare.stats.medcouple`.
#[pyfunction]
fn medcouple(py: Python<'_>, values: PyReadonlyArray1<'_, f64>) -> PyResult<f64> {
    let values = contiguous("values", &values)?;
    py.detach(|| tare_kernels::medcouple(values)).map_err(value_error)
}

/// Exact medcouple of distinct ascending float64 values with uint64 counts.
#[pyfunction]
fn medcouple_tally(
    py: Python<'_>,
    values: PyReadonlyArray1<'_, f64>,
    counts: PyReadonlyArray1<'_, u64>,
) -> PyResult<f64> {
    let (values, counts) = (contiguous("values", &values)?, contiguous("counts", &counts)?);
    py.detach(|| tare_kernels::medcouple_tally(values, counts)).map_err(value_error)
}

/// The elements of an array without a copy.
fn contiguous<'a, T: Element>(name: &str, array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| {
        PyValueError::new_err(format!(
            "`{name}` has strides of {:?} bytes; hint: pass numpy.ascontiguousarray({name})",
            array.strides()
        ))
    })
}

fn value_error(error: impl std::error::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(medcouple, module)?)?;
    module.add_function(wrap_pyfunction!(medcouple_tally, module)?)?;
    module.add_class::<trace_scan::TraceScan>()
}
