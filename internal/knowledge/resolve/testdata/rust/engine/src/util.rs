use std::time::{Duration, Instant};

pub struct Stopwatch {
    begin: Instant,
    laps: Vec<Duration>,
}

impl Stopwatch {
    pub fn start() -> Self {
        Stopwatch { begin: Instant::now(), laps: Vec::new() }
    }

    pub fn lap(&mut self) -> Duration {
        let lap = self.begin.elapsed();
        self.laps.push(lap);
        lap
    }

    pub fn total(&self) -> Duration {
        self.laps.iter().sum()
    }
}

pub fn trimmed(text: &str) -> &str {
    text.trim()
}

pub mod text {
    use super::trimmed;

    pub fn words(line: &str) -> Vec<&str> {
        trimmed(line).split(' ').filter(|w| keep(w)).collect()
    }

    fn keep(word: &str) -> bool {
        !word.is_empty() && !super::is_comment(word)
    }
}

fn is_comment(word: &str) -> bool {
    word.starts_with('#')
}
