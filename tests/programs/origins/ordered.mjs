// Values that a sort moved, that a logical assignment left, and that another module's variable has.
import { execFileSync } from 'node:child_process';
import * as rates from './counted.mjs';

class Reading {
  #doubled = null;
  #raw = 0;
  get doubled() { return this.#doubled ??= this.#raw * 2; }
  set raw(value) { this.#raw = value; }
}

const reading = new Reading();
reading.raw = 7;
const before = reading.doubled;
reading.raw = 9;
const stale = reading.doubled;

const rows = [{ score: 3 }, { score: 1 }, { score: 2 }];
const [best] = rows.sort((a, b) => b.score - a.score);
rows.reverse();
const worst = rows[0];
const still = [2, 1].sort(() => 0)[1];

rates.count(5);
const counted = rates.total;

const text = execFileSync(process.execPath, ['-p', '6 * 7'], { encoding: 'utf8' });
const answer = Number(text);
const pixels = new Uint8Array([250]);
pixels[0] += 10;
const light = pixels[0];
const again = await import('./counted.mjs');
const late = again.total;
console.log(before, stale, best, worst, still, counted, answer, light, late);
