// Collections, counted pointers, cells and locks of Rust, also within one another.
use std::cell::{Cell, RefCell};
use std::collections::*;
use std::rc::Rc;
use std::sync::{Arc, Mutex, RwLock};
#[derive(Debug, Clone)]
struct P { x: i32, name: String }
#[derive(Debug)]
enum E { Unit, Tup(i32, String), Rec { a: u8, b: Vec<u8> } }
#[inline(never)]
fn work(n: i32, text: &str, v: &Vec<i32>, sl: &[P], own: String) -> Result<i32, String> {
    let bm: BTreeMap<String, i32> = [("one".to_string(), 1), ("two".to_string(), 2)].into_iter().collect();
    let big: BTreeMap<i32, i32> = (0..40).map(|k| (k, k * k)).collect();
    let bs: BTreeSet<i32> = [3, 1, 2].into_iter().collect();
    let hm: HashMap<String, Vec<i32>> = [("k".to_string(), vec![1, 2])].into_iter().collect();
    let hs: HashSet<u8> = [7].into_iter().collect();
    let vd: VecDeque<i32> = { let mut d: VecDeque<i32> = (1..4).collect(); d.push_front(0); d };
    let rc = Rc::new(P { x: 1, name: "rc".into() });
    let rc2 = rc.clone();
    let arc = Arc::new(Mutex::new(P { x: 2, name: "arc".into() }));
    let rw = RwLock::new(5);
    let cell = Cell::new(4);
    let rcell = RefCell::new(vec![1, 2, 3]);
    let rrc: Rc<RefCell<P>> = Rc::new(RefCell::new(P { x: 3, name: "rrc".into() }));
    let some: Option<i32> = Some(5);
    let none: Option<i32> = None;
    let ob: Option<Box<P>> = Some(Box::new(P { x: 6, name: "ob".into() }));
    let nb: Option<Box<P>> = None;
    let os: Option<String> = Some("os".into());
    let ns: Option<String> = None;
    let r: Result<i32, String> = Err("bad".into());
    let e1 = E::Unit;
    let e2 = E::Tup(1, "t".into());
    let e3 = E::Rec { a: 1, b: vec![1, 2] };
    let b: Box<dyn Fn(i32) -> i32> = Box::new(move |z| z + n);
    let bs2: Box<str> = "boxed".into();
    let arr = [1u8, 2, 3];
    let tup = (1, "two", 3.5);
    let c = 'é';
    let st = "static é str";
    let w = Rc::downgrade(&rc2);
    let nested: Vec<Option<Box<P>>> = vec![None, Some(Box::new(P { x: 9, name: "n".into() }))];
    let dur = std::time::Duration::from_millis(1500);
    let path = std::path::PathBuf::from("/a/b");
    let mut out = n + bm.len() as i32 + big.len() as i32; // @here
    out += b(1) + v.len() as i32 + sl.len() as i32 + own.len() as i32 + text.len() as i32;
    println!("{out} {bs:?} {hm:?} {hs:?} {vd:?} {rc:?} {arc:?} {rw:?} {cell:?} {rcell:?} {rrc:?} {some:?} {none:?} {ob:?} {nb:?} {os:?} {ns:?} {r:?} {e1:?} {e2:?} {e3:?} {bs2:?} {arr:?} {tup:?} {c:?} {st:?} {w:?} {nested:?} {dur:?} {path:?}");
    if out > 1000 { return Err("too big".into()); }
    Ok(out)
}
fn main() {
    let v = vec![10, 20];
    let sl = [P { x: 1, name: "a".into() }, P { x: 2, name: "b".into() }];
    for k in 0..3 { let r = work(k, "text arg", &v, &sl[..], format!("own{k}")); println!("{r:?}"); }
}
