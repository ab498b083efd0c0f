use std::fmt;

#[derive(Debug)]
pub enum FlowError {
    Parse { line: usize, reason: String },
    Cycle(String),
    Failed(String, i32),
}

pub type Result<T> = std::result::Result<T, FlowError>;

impl FlowError {
    pub fn parse(line: usize, reason: &str) -> Self {
        FlowError::Parse { line, reason: reason.to_string() }
    }

    pub fn code(&self) -> i32 {
        match self {
            FlowError::Failed(_, code) => *code,
            other => default_code(other),
        }
    }
}

fn default_code(_error: &FlowError) -> i32 {
    1
}

impl fmt::Display for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.code())
    }
}
