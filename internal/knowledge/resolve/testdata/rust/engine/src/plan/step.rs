use std::sync::Arc;

use crate::error::Result;
use crate::run::Context;

pub trait Action {
    fn run(&self, context: &mut Context) -> Result<i32>;

    fn title(&self) -> String {
        self.label().to_uppercase()
    }

    fn label(&self) -> &str;
}

#[derive(Clone)]
pub struct Step {
    name: String,
    needs: Vec<String>,
    action: Arc<dyn Action>,
}

impl Step {
    pub fn new(name: &str, action: Arc<dyn Action>) -> Self {
        Self { name: name.to_owned(), needs: vec![], action }
    }

    pub fn from_words(words: &[&str]) -> Option<Self> {
        let (name, rest) = words.split_first()?;
        let shell = Shell::of(rest);
        Some(Step::new(name, Arc::new(shell)))
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn is_named(&self, name: &str) -> bool {
        self.name() == name
    }

    pub fn needs(&self) -> &[String] {
        &self.needs
    }

    pub fn after(mut self, other: &Step) -> Self {
        self.needs.push(other.name().to_owned());
        self
    }

    pub fn perform(&self, context: &mut Context) -> Result<i32> {
        context.note(&self.action.title());
        self.action.run(context)
    }
}

pub struct Shell {
    words: Vec<String>,
}

impl Shell {
    fn of(words: &[&str]) -> Shell {
        Shell { words: words.iter().map(|w| w.to_string()).collect() }
    }

    fn program(&self) -> &str {
        &self.words[0]
    }
}

impl Action for Shell {
    fn run(&self, context: &mut Context) -> Result<i32> {
        let code = context.spawn(self.program());
        context.note(self.label());
        Ok(code)
    }

    fn label(&self) -> &str {
        self.program()
    }
}
