use super::{Keep, Store};
use crate::message::Message;

#[derive(Default)]
pub struct MemoryStore {
    slots: Vec<Option<Message>>,
}

impl MemoryStore {
    pub fn with_capacity(n: usize) -> Self {
        let slots = Vec::with_capacity(n); //~ with_capacity -
        Self { slots }
    }

    fn free(&mut self) -> usize {
        self.slots.iter().position(Option::is_none).unwrap_or_else(|| { //~ iter -; position -; unwrap_or_else -
            self.slots.push(None); //~ push -
            self.slots.len() - 1 //~ len -
        })
    }
}

impl Store for MemoryStore {
    type Key = usize;

    fn put(&mut self, message: Message) -> usize {
        let slot = self.free(); //~ free memory.rs:MemoryStore.free
        self.slots[slot].replace(message); //~ replace -
        slot
    }

    fn take(&mut self, key: usize) -> Option<Message> {
        self.slots.get_mut(key)?.take() //~ get_mut -; take -
    }

    fn len(&self) -> usize {
        self.slots.iter().flatten().count() //~ iter -; flatten -; count -
    }
}

impl Keep for MemoryStore {}
