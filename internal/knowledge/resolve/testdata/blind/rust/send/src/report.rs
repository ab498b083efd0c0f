//! How transports tell what they do: their trait is implemented here.
use crate::transport::{Print, Smtp, Transport};
use mail::{Addr, Message, StrExt};

impl Transport for Print {
    fn name(&self) -> &str {
        "print"
    }

    fn send(&mut self, to: &Addr, message: &Message) -> Result<(), String> {
        println!("{to} {}", message.preview()); //~ preview message.rs:Message.preview
        Ok(())
    }
}

impl Transport for Smtp {
    fn send(&mut self, to: &Addr, _message: &Message) -> Result<(), String> {
        let domain = to.domain(); //~ domain address.rs:Address.domain
        if domain.is_local() { //~ is_local address.rs:Domain.is_local
            return Err(refusal(self)); //~ refusal report.rs:refusal
        }
        Ok(())
    }
}

fn refusal(by: &impl Transport) -> String {
    by.name().titled() //~ name transport.rs:Transport.name; titled ext.rs:str.titled
}

pub fn line(n: usize) -> String {
    let mut print = Print;
    let message = mail::quick("a@b.c", "n").unwrap(); //~ quick lib.rs:quick; unwrap -
    let sent = print.send_all(&message); //~ send_all transport.rs:Transport.send_all
    format!("{} {n}/{sent}", print.name()) //~ name report.rs:Print.name
}
