mod memory;
mod spool;

pub use memory::MemoryStore;
pub use spool::Spool;

use crate::Message;

pub mod prelude {
    pub use super::{Keep, Store};
}

pub trait Store {
    type Key: Copy;

    fn put(&mut self, message: Message) -> Self::Key;
    fn take(&mut self, key: Self::Key) -> Option<Message>;
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0 //~ len mod.rs:Store.len
    }

    fn put_all(&mut self, messages: impl IntoIterator<Item = Message>) -> Vec<Self::Key>
    where
        Self: Sized,
    {
        messages.into_iter().map(|m| self.put(m)).collect() //~ into_iter -; map -; put mod.rs:Store.put; collect -
    }
}

pub trait Keep: Store {
    fn keep() -> usize {
        10
    }

    fn full(&self) -> bool {
        self.len() >= Self::keep() //~ len mod.rs:Store.len; keep mod.rs:Keep.keep
    }
}
