use crate::error::{FlowError, Result};
use crate::plan::{Plan, Step};
use crate::util::{self, Stopwatch};

#[derive(Default)]
pub struct Context {
    log: Vec<String>,
    codes: Vec<i32>,
}

impl Context {
    pub fn note(&mut self, text: &str) {
        self.log.push(util::trimmed(text).to_string());
    }

    pub fn spawn(&mut self, program: &str) -> i32 {
        self.note(program);
        let code = launch(program);
        self.codes.push(code);
        code
    }

    fn worst(&self) -> i32 {
        self.codes.iter().copied().max().unwrap_or_default()
    }
}

fn launch(program: &str) -> i32 {
    program.len() as i32
}

pub struct Runner {
    plan: Plan,
    context: Context,
    watch: Stopwatch,
    observers: Vec<Box<dyn Observer>>,
}

pub trait Observer {
    fn done(&self, step: &Step, code: i32);
}

impl Runner {
    pub fn new(plan: Plan) -> Self {
        Runner { plan, context: Context::default(), watch: Stopwatch::start(), observers: Vec::new() }
    }

    pub fn observe(mut self, observer: Box<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    pub fn run(&mut self) -> Result<usize> {
        let mut count = 0;
        for step in self.plan.steps() {
            let code = step.perform(&mut self.context)?;
            self.watch.lap();
            for observer in &self.observers {
                observer.done(step, code);
            }
            if code != 0 {
                return Err(FlowError::Failed(step.name().to_string(), code));
            }
            count += 1;
        }
        self.report();
        Ok(count)
    }

    fn report(&mut self) {
        let summary = Summary::of(self);
        self.context.note(&summary.text());
        let watch = &mut self.watch;
        watch.lap();
    }

    pub fn only(&mut self, name: &str) -> Result<i32> {
        match self.plan.step(name) {
            Some(step) => step.perform(&mut self.context),
            None => Err(FlowError::parse(0, name)),
        }
    }
}

struct Summary {
    worst: i32,
    depth: usize,
}

impl Summary {
    fn of(runner: &Runner) -> Summary {
        let seconds = runner.watch.total().as_secs();
        print(seconds);
        Summary { worst: runner.context.worst(), depth: runner.plan.depth() }
    }

    fn text(&self) -> String {
        format!("{} {}", self.worst, self.depth)
    }
}

fn print(seconds: u64) {
    println!("{seconds}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Shell;

    fn runner(text: &str) -> Runner {
        Runner::new(Plan::parse(text).unwrap())
    }

    #[test]
    fn runs() {
        let mut runner = runner("a true");
        let count = runner.run().unwrap();
        check(count);
        runner.context.worst();
        let mut watch = Stopwatch::start();
        watch.lap();
    }

    fn check(count: usize) {
        assert_eq!(count, 1);
    }
}
