mod args;

use args::{Args, Mode};
use flow_engine::run::{Observer, Runner};
use flow_engine::{execute, Plan, Step};

struct Printer {
    verbose: bool,
}

impl Observer for Printer {
    fn done(&self, step: &Step, code: i32) {
        if self.verbose {
            self.line(step.name(), code);
        }
    }
}

impl Printer {
    fn line(&self, name: &str, code: i32) {
        println!("{name}: {code}");
    }
}

fn main() {
    let args = Args::parse(std::env::args());
    let outcome = match args.mode() {
        Mode::Run => execute(args.text()).map(|n| n as i32),
        Mode::Only(name) => only(&args, &name),
    };
    if let Err(error) = outcome {
        eprintln!("{error}");
        std::process::exit(error.code());
    }
}

fn only(args: &Args, name: &str) -> flow_engine::Result<i32> {
    let plan = Plan::parse(args.text())?;
    let mut runner = Runner::new(plan).observe(Box::new(Printer { verbose: args.verbose() }));
    runner.only(name)
}
