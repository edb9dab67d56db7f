
import { Worker } from 'worker_threads';
import { spawnSync } from 'child_process';
import { price } from './shop.mjs';
const what = process.argv[2];
function order(kinds) {
  return kinds.map((one) => price(one)).reduce((sum, one) => sum + one, 0);
}
function waits() { setInterval(() => {}, 1000); }
class Lost extends Error {}
if (what === 'throws') { order(['a']); throw new Lost('gone'); }
else if (what === 'exits') { order(['a']); process.exit(4); }
else if (what === 'waits') waits();
else if (what === 'worker') new Worker(new URL('./shop.mjs', import.meta.url));
else if (what === 'child') spawnSync(process.execPath, [process.argv[1], 'a']);
else if (what === 'killed') process.abort();
else if (order(process.argv.slice(2)) > 2) process.exitCode = 1;
