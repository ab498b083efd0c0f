pub enum Mode {
    Run,
    Only(String),
}

#[derive(Default)]
pub struct Args {
    words: Vec<String>,
}

impl Args {
    pub fn parse(words: impl Iterator<Item = String>) -> Self {
        let mut args = Args::default();
        for word in words {
            args.take(word);
        }
        args
    }

    fn take(&mut self, word: String) {
        self.words.push(word);
    }

    pub fn text(&self) -> &str {
        self.nth(0)
    }

    fn nth(&self, n: usize) -> &str {
        self.words.get(n).map(|w| w.as_str()).unwrap_or("")
    }

    pub fn verbose(&self) -> bool {
        self.words.iter().any(|w| is_flag(w))
    }

    pub fn mode(&self) -> Mode {
        match self.nth(1) {
            "" => Mode::Run,
            name => Mode::Only(name.to_string()),
        }
    }
}

fn is_flag(word: &str) -> bool {
    word.starts_with("-")
}
