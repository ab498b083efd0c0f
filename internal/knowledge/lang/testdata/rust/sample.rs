//! Sells things.

#![allow(dead_code)]

extern crate serde as codec;

use std::collections::{BTreeMap as Tree, HashMap};
use std::fmt::{self, Display};
use std::sync::Arc;
use crate::{config::Config, store::*};
use super::client::Client as HttpClient;
pub use self::errors::ShopError;
use tokio;

mod errors;

/// How many at most.
pub const MAX_ITEMS: usize = 10;
static REGISTRY: Registry = Registry::new();
pub(crate) static mut COUNTER: u64 = 0;

pub type Result<T> = std::result::Result<T, ShopError>;

/// A thing to sell.
#[derive(Debug, Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    pub id: u64,
    name: String,
    tags: Vec<Tag>,
    owner: Option<Box<Customer>>,
}

struct Meters(pub f64, Unit);

struct Marker;

union Bits {
    int: u32,
    float: f32,
}

/// What can go wrong.
#[derive(Debug)]
pub enum Event<'a, T: Payload> {
    /// A sale.
    Sold { item: Item, by: &'a Customer },
    Refunded(Receipt, T),
    Closed = 3,
}

/// Keeps items.
pub trait Store<K>: Display + Send + 'static {
    type Key: Ord;
    const LIMIT: usize = 4;

    /// Finds one.
    fn find(&self, key: &K) -> Option<Item>;

    fn first(&self, keys: &[K]) -> Option<Item> {
        self.find(&keys[0]).map(|item| item.touched())
    }
}

pub struct Shop<S: Store<u64>> {
    store: S,
    client: Arc<HttpClient>,
    items: HashMap<u64, Item>,
    shelves: Vec<Shelf>,
    lock: Mutex<Ledger>,
    on_sale: Box<dyn Fn(&Item) -> bool + Send>,
    hooks: Vec<Box<dyn Hook>>,
}

impl<S> Shop<S>
where
    S: Store<u64>,
{
    /// Opens a shop.
    #[must_use]
    pub fn new(store: S, config: &Config) -> Self {
        let client = HttpClient::connect(config.url());
        config.validate();
        Self { store, client: Arc::new(client), items: HashMap::new(), shelves: vec![Shelf::new(1)], lock: Mutex::new(Ledger::default()), on_sale: Box::new(|_| true), hooks: Vec::new() }
    }

    pub async fn sell(&mut self, id: u64, customer: &Customer) -> Result<Receipt> {
        let item = self.store.find(&id).ok_or(ShopError::Missing(id))?;
        item.touched();
        let mut ledger = self.lock.lock().unwrap();
        ledger.add(&item);
        let response = self.client.post("/sales").send().await?;
        response.check();
        let receipt = Receipt::new(&item, customer.clone());
        receipt.print();
        let parsed: Receipt = serde_json::from_str("{}")?;
        parsed.print();
        if let Some(known) = self.items.get(&id) {
            known.touched();
        }
        for shelf in &self.shelves {
            shelf.dust();
        }
        for (index, shelf) in self.shelves.iter_mut().enumerate() {
            shelf.number(index);
        }
        for (key, value) in self.items.iter() {
            value.touched();
            key.to_string();
        }
        self.shelves.iter().filter(|s| s.is_full()).for_each(|s| s.dust());
        self.shelves[0].dust();
        (self.on_sale)(&item);
        self.hooks.first().unwrap().run(&item);
        Self::audit(&receipt);
        Shop::<S>::audit(&receipt);
        <Receipt as Printable>::print_all(&receipt);
        let handler = make_handler(3);
        handler(&item);
        let Meters(amount, unit) = Meters(1.0, Unit::Metric);
        unit.convert(amount);
        let Item { name, owner: Some(boss), .. } = item else { return Err(ShopError::Closed) };
        boss.notify(&name);
        while let Some(next) = self.shelves.pop() {
            next.dust();
        }
        crate::metrics::count("sold", 1);
        tokio::spawn(async move { receipt.archive().await });
        println!("{} {}", receipt.total(), self.client.name());
        assert_eq!(Shelf::new(2).width(), helpers::width(2));
        log_sale!(receipt, self.items.len());
        fn local(n: u32) -> Shelf {
            Shelf::new(n)
        }
        local(2).dust();
        Ok(receipt)
    }

    fn audit(receipt: &Receipt) {
        match receipt.status() {
            Status::Paid => receipt.archive(),
            Status::Open(until) if until.passed() => REGISTRY.remind(),
            _ => unreachable!(),
        };
        match load(receipt) {
            Ok(loaded) => loaded.check(),
            Err(error) => error.report(),
        }
    }
}

impl<S: Store<u64>> Drop for Shop<S> {
    fn drop(&mut self) {
        self.client.close();
    }
}

impl Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        f.pad(&self.name)
    }
}

impl From<Item> for Receipt {
    fn from(item: Item) -> Self {
        item.receipt()
    }
}

impl<'a, T: Payload> Event<'a, T> {
    fn describe(&self) -> String {
        match self {
            Event::Sold { item, by: customer } => {
                customer.greet();
                item.touched().to_string()
            }
            Self::Refunded(receipt, payload) => {
                receipt.print();
                payload.encode()
            }
            Event::Closed => Meters::describe(),
        }
    }
}

impl Item {
    const EMPTY: Item = Item { id: 0, name: String::new(), tags: Vec::new(), owner: None };

    fn touched(self) -> Self {
        self.tags.iter().map(Tag::label).collect::<Vec<_>>();
        Item { id: 1, ..Self::EMPTY }
    }
}

/// Makes a handler.
pub fn make_handler(n: i32) -> impl Fn(&Item) -> bool {
    move |item| item.id > n as u64
}

unsafe extern "C" fn callback(data: *mut Item, len: usize) -> i32 {
    (*data).touched();
    free(data as *mut Ledger)
}

extern "C" {
    fn free(ptr: *mut Ledger) -> i32;
}

fn largest<T, U>(list: &[T], other: U) -> &T
where
    T: PartialOrd + Scored,
    U: Into<Item>,
{
    list[0].score();
    other.into().touched();
    &list[0]
}

#[macro_export]
macro_rules! log_sale {
    ($receipt:expr, $n:expr) => {
        $receipt.log($n)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fake {
        shop: Shop<Fake>,
    }

    impl Fake {
        fn open() -> Fake {
            Fake { shop: todo!() }
        }

        fn run(&self) {
            self.shop.audit(&make());
        }
    }

    fn make() -> Receipt {
        Receipt::default()
    }

    #[test]
    fn sells() {
        let fake = Fake::open();
        fake.run();
        assert!(make().is_empty());
        assert_eq!(fake.shop.count(), 1);
    }
}
