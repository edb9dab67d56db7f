// Two ferries between two harbours: each crossing moves passengers, and both harbours' books are
// kept in one step, so that no passenger is counted twice.

use std::collections::BTreeMap;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

struct Harbour {
    name: &'static str,
    waiting: u32,
    landed: BTreeMap<String, u32>,
}

impl Harbour {
    fn new(name: &'static str, waiting: u32) -> Arc<Mutex<Harbour>> {
        Arc::new(Mutex::new(Harbour { name, waiting, landed: BTreeMap::new() }))
    }
}

struct Ferry {
    name: &'static str,
    seats: u32,
    trips: u32,
}

impl Ferry {
    /// Takes on who waits, up to the number of its seats, and lands them on the other side.
    fn cross(
        &mut self,
        from: &Mutex<Harbour>,
        to: &Mutex<Harbour>,
        tide: &Barrier,
    ) -> u32 {
        let mut start = from.lock().unwrap();
        let aboard = self.seats.min(start.waiting);
        start.waiting -= aboard;
        if self.trips == 0 {
            tide.wait(); // both begin with the same tide
        }
        let mut end = to.lock().unwrap();
        *end.landed.entry(start.name.to_string()).or_insert(0) += aboard;
        self.trips += 1;
        aboard
    }
}

fn sail(mut ferry: Ferry, from: Arc<Mutex<Harbour>>, to: Arc<Mutex<Harbour>>, tide: Arc<Barrier>) -> u32 {
    let mut carried = 0;
    for _ in 0..3 {
        carried += ferry.cross(&from, &to, &tide);
    }
    println!("{} carried {} in {} trips", ferry.name, carried, ferry.trips);
    carried
}

fn main() {
    let island = Harbour::new("island", 70);
    let mainland = Harbour::new("mainland", 120);
    let tide = Arc::new(Barrier::new(2));

    let out = {
        let (from, to, tide) = (island.clone(), mainland.clone(), tide.clone());
        let ferry = Ferry { name: "Seal", seats: 30, trips: 0 };
        thread::Builder::new().name("seal".into()).spawn(move || sail(ferry, from, to, tide)).unwrap()
    };
    let back = {
        let (from, to, tide) = (mainland.clone(), island.clone(), tide.clone());
        let ferry = Ferry { name: "Otter", seats: 40, trips: 0 };
        thread::Builder::new().name("otter".into()).spawn(move || sail(ferry, from, to, tide)).unwrap()
    };
    let carried = out.join().unwrap() + back.join().unwrap();
    println!("{carried} passengers crossed");
    for harbour in [&island, &mainland] {
        let harbour = harbour.lock().unwrap();
        println!("{}: {} wait, {:?} landed", harbour.name, harbour.waiting, harbour.landed);
    }
}
