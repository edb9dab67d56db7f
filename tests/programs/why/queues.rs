// Items that are put into containers and taken out again.
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, VecDeque};

struct Scored(u32, usize);

impl PartialEq for Scored {
    fn eq(&self, other: &Scored) -> bool {
        self.0 == other.0
    }
}

impl Eq for Scored {}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Scored) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scored {
    fn cmp(&self, other: &Scored) -> Ordering {
        other.0.cmp(&self.0)
    }
}

struct Graph {
    edges: Vec<(usize, usize)>,
}

impl Graph {
    fn target_of(&self, at: usize) -> usize {
        self.edges[at].1 + at / 4 // @target
    }
}

fn mark(seen: &mut [bool], node: usize) {
    seen[node] = true; // @mark
}

fn walk_stack(graph: &Graph, seen: &mut [bool]) {
    let mut work = Vec::new();
    work.push(0);
    while let Some(node) = work.pop() {
        mark(seen, node); // @stack-mark
        for at in 0..graph.edges.len() {
            if graph.edges[at].0 == node {
                let next = graph.target_of(at); // @stack-next
                work.push(next); // @stack-push
            }
        }
    }
}

fn walk_queue(graph: &Graph, seen: &mut [bool]) {
    let mut work = VecDeque::from([0]);
    while !work.is_empty() {
        let node = work.pop_front().unwrap(); // @queue-pop
        mark(seen, node);
        for at in 0..graph.edges.len() {
            if graph.edges[at].0 == node {
                let next = graph.target_of(at); // @queue-next
                work.push_back(next); // @queue-push
            }
        }
    }
}

fn walk_heap(graph: &Graph, seen: &mut [bool]) {
    let mut work = BinaryHeap::new();
    work.push(Scored(0, 0));
    while let Some(Scored(score, node)) = work.pop() {
        // @heap-pop
        mark(seen, node);
        for at in 0..graph.edges.len() {
            if graph.edges[at].0 == node {
                let next = graph.target_of(at); // @heap-next
                let cost = score + at as u32;
                work.push(Scored(cost, next)); // @heap-push
            }
        }
    }
}

fn walk_map(graph: &Graph, seen: &mut [bool]) {
    let mut next_of = HashMap::new();
    for at in 0..graph.edges.len() {
        let next = graph.target_of(at); // @map-next
        next_of.insert(graph.edges[at].0, next); // @map-insert
    }
    let mut node = 0;
    for _ in 0..9 {
        mark(seen, node);
        node = *next_of.get(&node).unwrap(); // @map-get
    }
}

fn main() {
    let graph = Graph { edges: (0..6).map(|from| (from, from + 1)).collect() };
    let mut seen = vec![false; 6];
    match std::env::args().nth(1).as_deref() {
        Some("queue") => walk_queue(&graph, &mut seen),
        Some("heap") => walk_heap(&graph, &mut seen),
        Some("map") => walk_map(&graph, &mut seen),
        _ => walk_stack(&graph, &mut seen),
    }
}
