use mail::{Addr, Message};

pub trait Transport {
    fn name(&self) -> &str {
        "unnamed"
    }

    fn send(&mut self, to: &Addr, message: &Message) -> Result<(), String>;

    fn send_all(&mut self, message: &Message) -> usize {
        message.recipients().filter(|to| self.send(to, message).is_ok()).count() //~ recipients message.rs:Message.recipients; filter -; send transport.rs:Transport.send; is_ok -; count -
    }
}

pub struct Print;

pub struct Smtp {
    host: String,
    log: Vec<String>,
}

pub struct Traced<T>(T);

impl Smtp {
    pub fn connect(host: &str) -> Smtp {
        let mut smtp = Smtp { host: host.to_string(), log: vec![] }; //~ to_string -
        smtp.note("connected"); //~ note transport.rs:Smtp.note
        smtp
    }

    fn note(&mut self, text: &str) {
        self.log.push(format!("{}: {text}", self.host)); //~ push -
    }

    pub fn traced(self) -> Traced<Self> {
        Traced(self) //~ Traced transport.rs:Traced
    }
}

impl<T: Transport> Transport for Traced<T> {
    fn name(&self) -> &str {
        self.0.name() //~ name transport.rs:Transport.name
    }

    fn send(&mut self, to: &Addr, message: &Message) -> Result<(), String> {
        eprintln!("{} -> {to}", self.name()); //~ name transport.rs:Traced.name
        self.0.send(to, message) //~ send transport.rs:Transport.send
    }
}

pub fn pick(kind: &str) -> Box<dyn Transport> {
    let make: fn(&str) -> Smtp = Smtp::connect;
    match kind.split_once(':') { //~ split_once -
        Some(("smtp", host)) => Box::new(Smtp::connect(host).traced()), //~ new -; connect transport.rs:Smtp.connect; traced transport.rs:Smtp.traced
        Some((_, host)) => Box::new(make(host)), //~ new -; make -
        None => Box::new(Print), //~ new -
    }
}
