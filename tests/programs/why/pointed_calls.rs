// Values that come by closures behind pointers, and by a function on one line.
use std::cell::RefCell;
use std::rc::Rc;

struct Limits {
    max: i32,
    min: i32,
}

struct Reader {
    limits: Rc<RefCell<Limits>>,
}

impl Reader {
    fn max(&self) -> i32 { self.limits.borrow().max }
}

fn relax(limits: &Rc<RefCell<Limits>>, by: i32) {
    let mut l = limits.borrow_mut();
    l.max = l.min - by; // @relax
}

fn steps() -> Vec<Box<dyn Fn(i64) -> i64>> {
    let factor = -3;
    vec![
        Box::new(|x| x + 1),
        Box::new(move |x| x * factor), // @closure
    ]
}

fn run(steps: &[Box<dyn Fn(i64) -> i64>], first: i64) -> i64 {
    let mut value = first;
    for step in steps {
        value = step(value);
    }
    value
}

fn main() {
    let out = run(&steps(), 4);
    let shared = Rc::new(RefCell::new(Limits { max: 10, min: 1 }));
    let reader = Reader { limits: shared.clone() };
    relax(&shared, 50);
    let max = reader.max();
    println!("{} {}", out, max); // @end
}
