// Counts the hits of points: the site's stub does, or the stubs of several sites together.
'use strict';

const NEVER = uint64('0x7fffffffffffffff');
const SHARES_COUNT = 4; // in a record: the count is elsewhere, with that of other sites
const COUNT_SIZE = 64;
const groups = new Map(); // name to the count of all its points
const countRoom = { next: NULL, left: 0 };

// A count is two words, that of hits and that of the hit to wake at, as a site's record begins.
const arrivals = (at) => at.readU64().toNumber();
const wake = (at, number) => { at.add(8).writeU64(number); };
const wakeAt = (site, number) => { wake(recordOf(site), number); };

function countOf({ site, group }) {
  const fresh = { hits: 0, logged: 0, muted: false, isApart: Boolean(group) };
  if (!group) return { ...fresh, at: recordOf(site), base: arrivals(recordOf(site)), points: null };
  if (!groups.has(group)) groups.set(group, { ...fresh, at: newCount(COUNT_SIZE), base: 0, points: 0 });
  const count = groups.get(group);
  count.points++;
  return count;
}

// A count is never reused: a thread may be on its way to it.
function newCount(size) {
  if (countRoom.left < size) {
    const page = mapLasting(NULL, PAGE, 3, 0x22);
    if (page.equals(ptr(-1))) throw new Error('no memory to count in');
    Object.assign(countRoom, { next: page, left: PAGE });
  }
  const at = countRoom.next;
  Object.assign(countRoom, { next: at.add(size), left: countRoom.left - size });
  return at;
}

function forgetCount({ group, count }) {
  if (!group || --count.points) return;
  groups.delete(group);
  wake(count.at, NEVER);
}

// `mov eax, 1; lock xadd [rdi], rax; inc rax; ret`: the stubs count meanwhile.
const ADD_CODE = ground.add(192);
ADD_CODE.writeByteArray(unhex('b801000000f0480fc10748ffc0c3'));
const addOne = new NativeFunction(ADD_CODE, 'uint64', ['pointer'], AT_ONCE);

// Without a condition the stub itself can count, and wakes us only when a hit is due.
const countsAlone = (site) => site.points.length === 1 && !site.points[0].condition
  && !site.points[0].predicate && !site.points[0].thread;

// Tell a site's stub where to count, and when to wake us: for one point alone, or at every hit.
function countIn(site, point) {
  const record = recordOf(site);
  if (point) {
    const next = point.count.base + Math.max(point.ignore, hitsOf(point)) + 1;
    wake(point.count.at, point.log || point.pauses ? next : NEVER);
  } else {
    wakeAt(site, site.points.length ? 1 : NEVER);
  }
  record.add(80).writePointer(point ? point.count.at : record);
  record.add(72).writeU32(site.ours | (point && point.group ? SHARES_COUNT : 0));
}

function noteAlone(site) {
  if (!countsAlone(site)) return;
  const [{ count }] = site.points;
  count.hits = Math.max(arrivals(count.at) - count.base, 0);
}

// A point's own hits go on from where they are, whoever counts them from now on.
function rebase(site) {
  if (!countsAlone(site) || site.points[0].group) return;
  const [{ count }] = site.points;
  count.base = arrivals(count.at) - count.hits;
}

// Returns the number of a hit. A stub that counts for one point alone has said `which`.
function numberOf({ site, count }, which) {
  if (!site.alone && !count.isApart) return ++count.hits;
  const number = (site.alone ? which : addOne(count.at).toNumber()) - count.base;
  count.hits = Math.max(count.hits, number);
  return number;
}

const isDue = ({ ignore, every }, hits) => hits > ignore && (hits - ignore - 1) % every === 0;

// Over its rate, a line costs no more than its count until the budget is filled again.
function mute(point) {
  if (!countsAlone(point.site) || point.pauses) return;
  point.count.muted = true;
  wake(point.count.at, NEVER);
}

function refill(share) {
  for (const point of points.values()) {
    if (!point.rate) continue;
    const most = Math.max(point.rate * share, point.burst || 0, 1);
    const budget = Math.min(budgetOf(point) + point.rate * share, most);
    setBudget(point, budget);
    const { count } = point;
    if (isMuted(count) && budget >= 1) {
      count.hits = arrivals(count.at) - count.base;
      unmute(count);
      wake(count.at, count.base + count.hits + 1);
    }
  }
}

function hitsOf({ site, count }) {
  if (count.isApart || countsAlone(site)) return Math.max(arrivals(count.at) - count.base, 0);
  return count.hits;
}

// Of the hits that were due, those that left no record.
function droppedOf(point) {
  if (!point.log) return 0;
  const due = Math.ceil(Math.max(hitsOf(point) - point.ignore, 0) / point.every);
  return Math.max(due - loggedOf(point.count), 0);
}

function tally() {
  const found = {};
  const told = new Set();
  for (const point of points.values()) {
    found[point.id] = [hitsOf(point), told.has(point.count) ? 0 : droppedOf(point)];
    told.add(point.count);
  }
  return found;
}
