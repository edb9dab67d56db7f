// Finds what took an item out of a collection: the call or the write that shortened an array, emptied
// a collection, or removed a key.
'use strict';
const { trace, CLEARED } = require('./origin_trace.cjs');
const places = require('./origin_places.cjs');
const { formatScalar, lastBefore } = require('./origin_values.cjs');

function linkRemoval(chain, event, text, what) {
  chain.link('emptied', `${text}${places.argumentsOf(event.act)}`, event.site.node, event.act, { value: undefined });
  return chain.end('not followed', `${what} at ${places.describePlace(event.site.node, event.act)}`);
}

// How many elements an event has left in its array; null if it took none out.
function leftBy(event) {
  if (event.left !== undefined) return event.left;
  return event.site.key === 'length' && typeof event.value === 'number' ? event.value : null;
}

// The event that took the last item out of a collection, if nothing was put in after it; null without one.
function findEmptying(collection, time) {
  let last = null;
  for (const table of [trace.properties, trace.entries]) {
    const keys = table.get(collection);
    for (const list of keys instanceof Map ? keys.values() : []) {
      const event = lastBefore(list, time);
      if (event && event.time > (last?.time ?? 0)) last = event;
    }
  }
  return last && leftBy(last) === 0 ? last : null;
}

// Follows a collection that is empty to what took its last item out; undefined for others.
function followEmptied(chain, collection, time, text) {
  const event = findEmptying(collection, time);
  return event ? linkRemoval(chain, event, `the last item taken out of ${text}`, `${text} became empty`) : undefined;
}

// Follows an element that an array has no more to what shortened the array; undefined for others.
function followRemoved(chain, array, key, { time, since, text }) {
  if (!Array.isArray(array) || !/^\d+$/.test(key) || Object.hasOwn(array, key)) return undefined;
  const keys = trace.properties.get(array);
  const isCut = (one) => one.time < time && one.time > since && (leftBy(one) ?? Infinity) <= Number(key);
  const cuts = [...(keys?.get('length') ?? []), ...(keys?.get('*') ?? [])].filter(isCut);
  const cut = cuts.reduce((first, one) => (!first || one.time < first.time ? one : first), null);
  if (!cut) return undefined;
  const by = cut.site.method ? `removed by ${cut.site.method}` : 'removed as the array was shortened';
  return linkRemoval(chain, cut, `${text} ${by}`, `${text} was removed`);
}

// Follows an entry that a Map has no more to what took it out; undefined for others.
function followTaken(chain, map, key, time, text) {
  const entries = trace.entries.get(map);
  const last = lastBefore(entries?.get(key), time);
  const cleared = map instanceof Map ? lastBefore(entries?.get(CLEARED), time) : null;
  const isCleared = cleared && cleared.time > (last?.time ?? 0) && (last || cleared.keys.includes(key));
  const event = isCleared ? cleared : last?.site.method === 'delete' ? last : null;
  return event ? linkRemoval(chain, event, `${formatScalar(key)} taken out of ${text}`, `${formatScalar(key)} was removed`) : undefined;
}

module.exports = { followEmptied, followRemoved, followTaken };
