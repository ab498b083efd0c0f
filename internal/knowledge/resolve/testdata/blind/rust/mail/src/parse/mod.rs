mod header;

pub use self::header::{header, Header};

#[derive(Debug)]
pub struct ParseError {
    pub at: usize,
}

impl ParseError {
    pub fn at(at: usize) -> Self {
        ParseError { at }
    }
}

pub struct Cursor<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Self {
        Cursor { text, position: 0 }
    }

    pub fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    pub fn position(&self) -> usize {
        self.position
    }

    pub fn take_until(&mut self, end: char) -> Result<String, ParseError> {
        let found = self.rest().find(end).ok_or_else(|| self.fault())?; //~ rest mod.rs:Cursor.rest; find -; ok_or_else -; fault mod.rs:Cursor.fault
        let taken = self.rest()[..found].to_string(); //~ rest mod.rs:Cursor.rest; to_string -
        self.advance(found + end.len_utf8()); //~ advance mod.rs:Cursor.advance; len_utf8 -
        Ok(taken)
    }

    fn advance(&mut self, by: usize) {
        self.position += by;
    }

    fn fault(&self) -> ParseError {
        ParseError::at(self.position) //~ at mod.rs:ParseError.at
    }
}

pub fn atom(text: &str) -> Result<(), ParseError> {
    match text.find(|c: char| !is_atom(c)) { //~ find -; is_atom mod.rs:is_atom
        Some(at) => Err(ParseError::at(at)), //~ at mod.rs:ParseError.at
        None => Ok(()),
    }
}

fn is_atom(c: char) -> bool {
    c.is_alphanumeric() || "._-".contains(c) //~ is_alphanumeric -; contains -
}
