
const what = process.argv[2];
const shop = Object.assign(new Shop(), { what });
async function day() {
  price('before');
  shop.open('abc');
  try { report(shop); } catch { price('caught'); }
  price('between');
  await shop.close();
  price('after');
  if (what === 'exits') process.exit(3);
}
if (what === 'child') {
  spawnSync(process.execPath, [process.argv[1]]);
} else if (what === 'worker' && isMainThread) {
  price('main');
  new Worker(process.argv[1]).on('exit', () => price('main'));
} else day();
