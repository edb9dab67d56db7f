trait Area { fn area(&self) -> i32; }
struct Sq { s: i32 }
struct Ci { r: i32 }
impl Area for Sq {
    fn area(&self) -> i32 {
        self.s * self.s
    }
}
impl Area for Ci {
    fn area(&self) -> i32 {
        self.r * 3
    }
}
impl Sq {
    fn grow(&mut self, by: i32) {
        self.s += by;
    }
}
mod inner {
    pub fn helper(a: i32) -> i32 {
        a + 1
    }
}
fn pick<T: Area>(t: &T) -> i32 {
    t.area()
}
fn main() {
    let mut q = Sq { s: 2 };
    let c = Ci { r: 1 };
    q.grow(1);
    let k = 5;
    let add = |x: i32| -> i32 {
        x + k
    };
    println!("{}", pick(&q) + pick(&c) + inner::helper(1) + add(2));
}
