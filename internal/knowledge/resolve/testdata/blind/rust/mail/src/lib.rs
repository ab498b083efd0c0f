//! Messages, and where they are kept.

pub mod address;
mod message;
pub mod parse;
pub mod store;

mod ext;

pub use crate::message::{Builder, Message, Priority};
pub use address::Address as Addr;
pub use ext::StrExt;
pub use store::prelude::*;

pub fn quick(to: &str, text: &str) -> Result<Message, parse::ParseError> {
    let to: Addr = to.parse()?; //~ parse -
    Ok(Message::builder(to).text(text).build()) //~ builder message.rs:Message.builder; text message.rs:Builder.text; build message.rs:Builder.build
}
