pub mod worker;

use mail::parse::ParseError;

#[derive(Debug)]
pub enum Fault {
    Parse(ParseError),
    Refused(String),
}

impl Fault {
    pub fn advice(&self) -> String {
        match self {
            Fault::Parse(e) => hint(e.at), //~ hint mod.rs:hint
            Fault::Refused(why) => why.clone(), //~ clone -
        }
    }
}

impl From<ParseError> for Fault {
    fn from(e: ParseError) -> Self {
        Fault::Parse(e)
    }
}

fn hint(at: usize) -> String {
    format!("look at byte {at}")
}
