//! Headroom's answers for Python: text in, text out. `headroom/__init__.py` makes dictionaries of it.

use headroom_answers::Wanted;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::{Bound, PyModule, PyModuleMethods, PyResult, Python, pyfunction, pymodule, wrap_pyfunction};

fn answer(result: Result<String, String>) -> PyResult<String> {
    result.map_err(PyValueError::new_err)
}

/// What a plan needs, as JSON.
#[pyfunction]
fn estimate(python: Python<'_>, plan: &str) -> PyResult<String> {
    answer(python.detach(|| headroom_answers::estimate(plan)))
}

/// What to change so that a plan fits its GPUs, or uses them, as JSON.
#[pyfunction]
fn advise(python: Python<'_>, plan: &str) -> PyResult<String> {
    answer(python.detach(|| headroom_answers::advise(plan)))
}

/// What the text of a failure or of a monitor states, as JSON.
#[pyfunction]
#[pyo3(signature = (said, plan))]
fn diagnose(python: Python<'_>, said: &str, plan: Option<&str>) -> PyResult<String> {
    answer(python.detach(|| headroom_answers::diagnose(said, plan)))
}

/// A link to a plan, or to two that are compared.
#[pyfunction]
#[pyo3(signature = (plan, other, page, view, lang, theme))]
fn link(
    plan: &str,
    other: Option<&str>,
    page: Option<&str>,
    view: Option<&str>,
    lang: Option<&str>,
    theme: Option<&str>,
) -> PyResult<String> {
    answer(Wanted::named(page, view, lang, theme).and_then(|wanted| headroom_answers::link(plan, other, &wanted)))
}

/// What a link says, as JSON.
#[pyfunction]
fn read_link(link: &str) -> PyResult<String> {
    answer(headroom_answers::read_link(link))
}

/// The functions of `headroom._headroom`.
#[pymodule]
fn _headroom(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(estimate, module)?)?;
    module.add_function(wrap_pyfunction!(advise, module)?)?;
    module.add_function(wrap_pyfunction!(diagnose, module)?)?;
    module.add_function(wrap_pyfunction!(link, module)?)?;
    module.add_function(wrap_pyfunction!(read_link, module)?)
}
