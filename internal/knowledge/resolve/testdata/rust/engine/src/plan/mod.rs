mod order;
mod step;

pub use self::order::Order;
pub use self::step::{Action, Shell, Step};

use crate::error::{FlowError, Result};
use crate::util::text;

pub struct Plan {
    steps: Vec<Step>,
    order: Option<Order>,
}

impl Plan {
    pub fn parse(source: &str) -> Result<Plan> {
        let mut plan = Plan::empty();
        for (number, line) in source.lines().enumerate() {
            let words = text::words(line);
            if words.is_empty() {
                continue;
            }
            plan.add(Step::from_words(&words).ok_or(FlowError::parse(number, "no action"))?);
        }
        plan.sorted()
    }

    fn empty() -> Plan {
        Plan { steps: Vec::new(), order: None }
    }

    pub fn add(&mut self, step: Step) -> &mut Self {
        self.steps.push(step);
        self.order = None;
        self
    }

    fn sorted(mut self) -> Result<Self> {
        let order = Order::of(&self.steps)?;
        order.check();
        self.order = Some(order);
        Ok(self)
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub fn step(&self, name: &str) -> Option<&Step> {
        self.steps.iter().find(|s| s.is_named(name))
    }

    pub fn depth(&self) -> usize {
        match &self.order {
            Some(order) => order.depth(),
            None => 0,
        }
    }
}

impl Default for Plan {
    fn default() -> Self {
        Self::empty()
    }
}
