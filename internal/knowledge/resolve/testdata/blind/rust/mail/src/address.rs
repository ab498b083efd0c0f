use std::fmt;
use std::str::FromStr;

use crate::parse::{self, Cursor, ParseError};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    local: String,
    domain: Domain,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Domain(String);

impl Domain {
    pub const LOCAL: &'static str = "localhost";

    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into().to_lowercase()) //~ into -; to_lowercase -
    }

    pub fn is_local(&self) -> bool {
        self.0 == Self::LOCAL || self.top().is_none() //~ top address.rs:Domain.top; is_none -
    }

    fn top(&self) -> Option<&str> {
        self.0.rsplit_once('.').map(|(_, top)| top) //~ rsplit_once -; map -
    }
}

impl Default for Domain {
    fn default() -> Self {
        Domain::new(Self::LOCAL) //~ new address.rs:Domain.new
    }
}

impl Address {
    pub fn new(local: &str, domain: Domain) -> Address {
        Address { local: local.to_owned(), domain } //~ to_owned -
    }

    pub fn local(name: &str) -> Address {
        Self::new(name, Domain::default()) //~ new address.rs:Address.new; default address.rs:Domain.default
    }

    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    pub fn is_local(&self) -> bool {
        self.domain().is_local() //~ domain address.rs:Address.domain; is_local address.rs:Domain.is_local
    }
}

impl FromStr for Address {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut cursor = Cursor::new(text); //~ new mod.rs:Cursor.new
        let local = cursor.take_until('@')?; //~ take_until mod.rs:Cursor.take_until
        parse::atom(&local)?; //~ atom mod.rs:atom
        match cursor.rest() { //~ rest mod.rs:Cursor.rest
            "" => Err(ParseError::at(cursor.position())), //~ at mod.rs:ParseError.at; position mod.rs:Cursor.position
            rest => Ok(Address::new(&local, Domain::new(rest))), //~ new address.rs:Address.new; new#2 address.rs:Domain.new
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.local, self.domain.0)
    }
}
