enum Kind {
    Null,
    Small,
    Big,
}
struct Byte(u8);
impl Byte {
    fn kind(self) -> Kind {
        if self.0 == 0 {
            Kind::Null
        } else if self.0.is_ascii() {
            Kind::Small
        } else {
            Kind::Big
        }
    }
}
fn main() {
    println!("{}", matches!(Byte(0).kind(), Kind::Null | Kind::Small | Kind::Big));
}
