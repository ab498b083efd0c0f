use flow_engine::Plan;

pub fn sample() -> Plan {
    Plan::parse("a true").expect("a plan")
}
