use std::collections::VecDeque;

use super::Fault;
use crate::transport::Transport;
use mail::{Message, Priority};

pub struct Limits {
    per_minute: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { per_minute: 60 }
    }
}

impl Limits {
    pub fn per_minute(self, n: u32) -> Self {
        Self { per_minute: n.max(1), ..self } //~ max -
    }
}

struct Job {
    message: Message,
    tries: u32,
}

impl Job {
    fn next(self) -> Self {
        Job { tries: self.tries + 1, ..self }
    }

    fn urgency(&self) -> u32 {
        let Job { message, tries } = self;
        message.priority.weight() + tries //~ weight message.rs:Priority.weight
    }
}

pub struct Worker<T: ?Sized + Transport> {
    limits: Limits,
    jobs: VecDeque<Job>,
    transport: Box<T>,
}

impl<T: ?Sized + Transport> Worker<T> {
    pub fn new(transport: Box<T>, limits: Limits) -> Self {
        Self { limits, jobs: VecDeque::new(), transport } //~ new -
    }

    pub fn push(&mut self, message: Message) -> &mut Self {
        self.jobs.push_back(Job { message, tries: 0 }); //~ push_back -
        self.sort(); //~ sort worker.rs:Worker.sort
        self
    }

    fn sort(&mut self) {
        self.jobs.make_contiguous().sort_by_key(|job| job.urgency()); //~ make_contiguous -; sort_by_key -; urgency worker.rs:Job.urgency
    }

    pub fn drain(&mut self) -> Result<usize, Fault> {
        let mut sent = 0;
        while let Some(job) = self.jobs.pop_front() { //~ pop_front -
            match self.attempt(&job) { //~ attempt worker.rs:Worker.attempt
                0 if job.tries < self.limits.per_minute => self.jobs.push_back(job.next()), //~ push_back -; next worker.rs:Job.next
                0 => return Err(Fault::Refused(self.transport.name().into())), //~ name transport.rs:Transport.name; into -
                n => sent += n,
            }
        }
        Ok(sent)
    }

    fn attempt(&mut self, job: &Job) -> usize {
        if job.message.priority == Priority::default() { //~ default -
            return self.transport.send_all(&job.message); //~ send_all transport.rs:Transport.send_all
        }
        let first = job.message.recipients().next(); //~ recipients message.rs:Message.recipients; next -
        first.map_or(0, |to| self.transport.send(to, &job.message).is_ok() as usize) //~ map_or -; send transport.rs:Transport.send; is_ok -
    }
}
