use flow_engine::plan::{Plan, Step};
use flow_engine::{execute, FlowError};

mod common;

#[test]
fn refuses_cycles() {
    let error = execute("a b").unwrap_err();
    assert_eq!(code_of(&error), 1);
    let plan = common::sample();
    plan.depth();
}

fn code_of(error: &FlowError) -> i32 {
    error.code()
}

#[test]
fn finds_steps() {
    let plan = Plan::parse("x y").unwrap();
    let step = plan.step("x").unwrap();
    step.is_named("x");
    let later: Step = step.clone().after(step);
    later.needs();
}
