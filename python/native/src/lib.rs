//! The module `fairwire._fairwire`, from which `python/fairwire` builds the package `fairwire`.
//!
//! Keys and errors are those of scenario files. The columns of tables are the fields of the
//! [records](fairwire_metrics::record).

mod contest;
mod discipline;
mod episode;
mod error;
#[cfg(not(target_os = "linux"))]
mod no_stages;
mod oracle;
mod own;
mod picture;
mod reproduction;
mod result;
mod scenario;
#[cfg(target_os = "linux")]
mod stages;
mod sweep;
mod table;
mod watch;

#[cfg(not(target_os = "linux"))]
use no_stages as stages;
use pyo3::prelude::*;

/// fairwire: shares a network link fairly. Import `fairwire`, not this module.
#[pymodule]
fn _fairwire(module: &Bound<'_, PyModule>) -> PyResult<()> {
    own::register()?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ENGINE", fairwire_scenario::ENGINE)?;
    module.add("ScenarioError", module.py().get_type::<error::ScenarioError>())?;
    module.add("StageError", module.py().get_type::<error::StageError>())?;
    module.add("SweepError", module.py().get_type::<sweep::SweepError>())?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<sweep::SweepPlan>()?;
    module.add_class::<result::Result>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<reproduction::Reproduction>()?;
    module.add_class::<reproduction::Exhibit>()?;
    module.add_class::<discipline::Discipline>()?;
    module.add_class::<episode::Episode>()?;
    module.add_class::<own::Ack>()?;
    module.add_class::<own::Congestion>()?;
    module.add_class::<own::Packet>()?;
    module.add_class::<own::Waiting>()?;
    module.add_function(wrap_pyfunction!(sweep::run_shard, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::_sweep_plan, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::_scenario, module)?)?;
    #[cfg(target_os = "linux")]
    module.add_function(wrap_pyfunction!(stages::_helper, module)?)?;
    module.add_function(wrap_pyfunction!(table::_table, module)?)?;
    module.add_function(wrap_pyfunction!(result::_result, module)?)?;
    module.add_function(wrap_pyfunction!(result::read, module)?)?;
    module.add_function(wrap_pyfunction!(oracle::max_min, module)?)?;
    module.add_function(wrap_pyfunction!(oracle::estimate, module)?)?;
    module.add_function(wrap_pyfunction!(oracle::jain, module)?)?;
    module.add_function(wrap_pyfunction!(oracle::describe, module)?)?;
    module.add_function(wrap_pyfunction!(oracle::all_parts, module)?)?;
    module.add_function(wrap_pyfunction!(oracle::disciplines, module)?)
}
