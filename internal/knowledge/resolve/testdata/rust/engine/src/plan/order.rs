use std::collections::HashMap;

use super::Step;
use crate::error::{FlowError, Result};

pub struct Order {
    ranks: HashMap<String, usize>,
}

impl Order {
    pub fn of(steps: &[Step]) -> Result<Self> {
        let mut order = Self { ranks: HashMap::new() };
        for step in steps {
            order.visit(step, steps, 0)?;
        }
        Ok(order)
    }

    fn visit(&mut self, step: &Step, steps: &[Step], depth: usize) -> Result<usize> {
        if depth > steps.len() {
            return Err(FlowError::Cycle(step.name().to_owned()));
        }
        let mut rank = 0;
        for need in step.needs() {
            if let Some(found) = lookup(steps, need) {
                rank = rank.max(self.visit(found, steps, depth + 1)? + 1);
            }
        }
        self.ranks.insert(step.name().to_owned(), rank);
        Ok(rank)
    }

    pub fn check(&self) {
        debug_assert!(self.depth() <= self.ranks.len());
    }

    pub fn depth(&self) -> usize {
        self.ranks.values().copied().max().unwrap_or(0)
    }
}

fn lookup<'a>(steps: &'a [Step], name: &str) -> Option<&'a Step> {
    steps.iter().find(|step| step.is_named(name))
}
