use std::sync::{Arc, Mutex};

use super::Store;
use crate::{Message, Priority};

/// A store that is shared, and counts.
pub struct Spool<S> {
    inner: Arc<Mutex<S>>,
    taken: usize,
    on_put: Box<dyn Fn(&Message) + Send>,
}

impl<S: Store> Spool<S> {
    pub fn new(store: S) -> Self {
        Spool { inner: Arc::new(Mutex::new(store)), taken: 0, on_put: Box::new(|_| {}) } //~ new -; new#2 -; new#3 -
    }

    pub fn on_put(mut self, f: impl Fn(&Message) + Send + 'static) -> Self {
        self.on_put = Box::new(f); //~ new -
        self
    }

    pub fn put(&self, message: Message) -> S::Key {
        (self.on_put)(&message);
        let mut store = self.inner.lock().unwrap(); //~ lock -; unwrap -
        store.put(message) //~ put mod.rs:Store.put
    }

    pub fn take(&mut self, key: S::Key) -> Option<Message> {
        self.taken += 1;
        self.inner.lock().unwrap().take(key) //~ lock -; unwrap -; take mod.rs:Store.take
    }

    pub fn urgent(&self, message: Message) -> S::Key {
        let raised = raise(message, Priority::Urgent { hours: 2 }); //~ raise spool.rs:raise
        self.put(raised) //~ put spool.rs:Spool.put
    }

    pub fn is_idle(&self) -> bool {
        self.inner.lock().map(|store| store.is_empty()).unwrap_or(true) //~ lock -; map -; is_empty mod.rs:Store.is_empty; unwrap_or -
    }
}

impl<S> Clone for Spool<S> {
    fn clone(&self) -> Self {
        Spool { inner: Arc::clone(&self.inner), taken: 0, on_put: Box::new(|_| {}) } //~ clone -; new -
    }
}

fn raise(mut message: Message, to: Priority) -> Message {
    if message.priority.weight() < to.weight() { //~ weight message.rs:Priority.weight; weight#2 message.rs:Priority.weight
        message.priority = to;
    }
    message
}
