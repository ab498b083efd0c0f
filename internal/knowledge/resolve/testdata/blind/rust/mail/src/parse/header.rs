use super::{atom, Cursor, ParseError};
use crate::ext::StrExt as _;

pub struct Header {
    pub name: String,
    pub value: String,
}

pub fn header(line: &str) -> Result<Header, ParseError> {
    let mut cursor = Cursor::new(line); //~ new mod.rs:Cursor.new
    let name = cursor.take_until(':')?; //~ take_until mod.rs:Cursor.take_until
    atom(&name)?; //~ atom mod.rs:atom
    let value = unfold(cursor.rest()); //~ unfold header.rs:unfold; rest mod.rs:Cursor.rest
    Ok(Header { name: name.titled(), value }) //~ titled ext.rs:str.titled
}

fn unfold(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ") //~ lines -; map -; collect -; join -
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfolds() {
        assert_eq!(unfold("a\n b"), "a b"); //~ unfold header.rs:unfold
        let found = header("subject: x").unwrap(); //~ header header.rs:header; unwrap -
        assert_eq!(found.name, "Subject");
    }
}
