pub trait StrExt {
    fn titled(&self) -> String;

    fn shortened(&self, to: usize) -> String;
}

impl StrExt for str {
    fn titled(&self) -> String {
        let mut chars = self.chars(); //~ chars -
        chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default() //~ next -; map -; to_uppercase -; chain -; collect -; unwrap_or_default -
    }

    fn shortened(&self, to: usize) -> String {
        self.chars().take(to).collect() //~ chars -; take -; collect -
    }
}
