//! Runs plans of steps.

pub mod error;
pub mod plan;
pub mod run;
mod util;

pub use error::{FlowError, Result};
pub use plan::{Plan, Step};
pub use run::Runner;

/// Reads and runs a plan.
pub fn execute(text: &str) -> Result<usize> {
    let plan = Plan::parse(text)?;
    let mut runner = Runner::new(plan);
    runner.run()
}
