mod shop {
    pub trait Priced {
        fn total(&self) -> i32;
    }
    impl Priced for Cart {
        fn total(&self) -> i32 {
            self.count
        }
    }
}
fn main() {
    fn nested(count: i32) -> i32 {
        count
    }
}
