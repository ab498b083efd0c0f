use mail::store::{MemoryStore, Spool};
use mail::{parse, quick, Addr, Keep, Store};

fn store() -> MemoryStore {
    MemoryStore::with_capacity(4) //~ with_capacity memory.rs:MemoryStore.with_capacity
}

#[test]
fn keeps() {
    let mut store = store(); //~ store roundtrip.rs:store
    let message = quick("ada@example.com", "hi").expect("parses"); //~ quick lib.rs:quick; expect -
    assert_eq!(message.preview(), "hi"); //~ preview message.rs:Message.preview
    let keys = store.put_all([message.clone(), message]); //~ put_all mod.rs:Store.put_all; clone -
    assert!(!store.full()); //~ full mod.rs:Keep.full
    assert!(<MemoryStore as Keep>::keep() > 2); //~ keep mod.rs:Keep.keep
    for key in keys {
        let again = store.take(key).unwrap(); //~ take memory.rs:MemoryStore.take; unwrap -
        assert_eq!(again.recipients().count(), 1); //~ recipients message.rs:Message.recipients; count -
    }
    assert!(Addr::local("root").is_local()); //~ local address.rs:Address.local; is_local address.rs:Address.is_local
    assert!(parse::atom("a b").is_err()); //~ atom mod.rs:atom; is_err -
}

#[test]
fn spools() {
    let mut spool = Spool::new(store()).on_put(|m| println!("{}", m.preview())); //~ new spool.rs:Spool.new; store roundtrip.rs:store; on_put spool.rs:Spool.on_put; preview message.rs:Message.preview
    let key = spool.urgent(quick("a@b", "x").unwrap()); //~ urgent spool.rs:Spool.urgent; quick lib.rs:quick; unwrap -
    assert!(spool.take(key).is_some()); //~ take spool.rs:Spool.take; is_some -
}
