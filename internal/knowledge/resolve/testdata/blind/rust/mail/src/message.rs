use std::collections::BTreeMap;

use crate::address::{Address, Domain};
use crate::parse::{header, Header, ParseError};
use crate::StrExt;

#[derive(Clone, Copy, PartialEq, PartialOrd, Default)]
pub enum Priority {
    Low,
    #[default]
    Normal,
    Urgent { hours: u32 },
}

impl Priority {
    pub fn of(header: &Header) -> Option<Priority> {
        match header.value.as_str() { //~ as_str -
            "low" => Some(Self::Low),
            "urgent" => Some(Priority::Urgent { hours: 1 }),
            _ => None,
        }
    }

    pub fn weight(self) -> u32 {
        match self {
            Priority::Low => 0,
            Priority::Normal => 1,
            Priority::Urgent { hours } => 100 - hours.min(99), //~ min -
        }
    }
}

#[derive(Clone)]
pub struct Message {
    to: Vec<Address>,
    headers: BTreeMap<String, String>,
    pub priority: Priority,
    text: String,
}

impl Message {
    pub fn builder(to: Address) -> Builder {
        Builder { to: vec![to], ..Builder::default() } //~ default -
    }

    pub fn recipients(&self) -> impl Iterator<Item = &Address> + '_ {
        self.to.iter().filter(|to| !to.is_local()) //~ iter -; filter -; is_local address.rs:Address.is_local
    }

    pub fn domains(&self) -> Vec<&Domain> {
        self.to.iter().map(|to| to.domain()).collect() //~ iter -; map -; domain address.rs:Address.domain; collect -
    }

    pub fn preview(&self) -> String {
        self.text.shortened(60) //~ shortened ext.rs:str.shortened
    }

    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut builder = Builder::default(); //~ default -
        for line in text.lines().take_while(|l| !l.is_empty()) { //~ lines -; take_while -; is_empty -
            let found = header(line)?; //~ header header.rs:header
            if let Some(priority) = Priority::of(&found) { //~ of message.rs:Priority.of
                builder = builder.priority(priority); //~ priority message.rs:Builder.priority
            }
            builder.header(found); //~ header message.rs:Builder.header
        }
        Ok(builder.build()) //~ build message.rs:Builder.build
    }
}

#[derive(Default)]
pub struct Builder {
    to: Vec<Address>,
    headers: BTreeMap<String, String>,
    priority: Priority,
    text: String,
}

impl Builder {
    pub fn text(mut self, text: &str) -> Self {
        self.text.push_str(text); //~ push_str -
        self
    }

    #[must_use]
    pub fn priority(self, priority: Priority) -> Builder {
        Builder { priority, ..self }
    }

    pub fn header(&mut self, Header { name, value }: Header) -> &mut Self {
        self.headers.insert(name, value); //~ insert -
        self
    }

    pub fn build(self) -> Message {
        let Builder { to, headers, priority, text } = self;
        Message { to, headers, priority, text }
    }
}
