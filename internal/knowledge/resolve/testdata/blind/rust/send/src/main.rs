mod transport;
mod queue;
mod report;

use std::env;
use std::process::ExitCode;

use mail::{store, Message};
use queue::worker::{self, Worker};
use transport::{pick, Transport};

fn main() -> ExitCode {
    let mut args = env::args().skip(1); //~ args -; skip -
    let kind = args.next().unwrap_or_else(|| String::from("print")); //~ next -; unwrap_or_else -; from -
    match run(&kind) { //~ run main.rs:run
        Ok(n) => {
            println!("{n} sent, {}", report::line(n)); //~ line report.rs:line
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("{}", e.advice()); //~ advice mod.rs:Fault.advice
            ExitCode::FAILURE
        }
    }
}

fn run(kind: &str) -> Result<usize, queue::Fault> {
    let spool = store::Spool::new(store::MemoryStore::default()); //~ new spool.rs:Spool.new; default -
    let transport: Box<dyn Transport> = pick(kind); //~ pick transport.rs:pick
    let mut worker = Worker::new(transport, worker::Limits::default().per_minute(3)); //~ new worker.rs:Worker.new; default worker.rs:Limits.default; per_minute worker.rs:Limits.per_minute
    let message = Message::parse("to: a\n\n")?; //~ parse message.rs:Message.parse
    spool.put(message.clone()); //~ put spool.rs:Spool.put; clone -
    worker.push(message).drain() //~ push worker.rs:Worker.push; drain worker.rs:Worker.drain
}
