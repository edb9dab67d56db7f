// What a page receives in a part of a night; nothing of it may be kept without a bound.
const [from, count] = arguments;
return import('/static/app.js').then(async ({ connection }) => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const members = [...document.querySelectorAll('.member')].map((one) => one.dataset.session);
  const sessions = (at) => ['job', ...members].map((session, index) => (
    { session, state: (at + index) % 3 ? 'running' : 'stopped', adapter: 'fake' }));
  for (let at = from; at < from + count; at += 1) {
    if (at % 1000 === 0) {
      const evidence = Array.from({ length: 100 }, (_, each) => (
        { id: `e${at + each}`, command: `debugger probe ${at}`, summary: 'x'.repeat(200), time: '2026-01-01T00:00:00', cwd: '/' }));
      connection.listen('overview', { sessions: sessions(at), groups: [{ group: 'job', sessions: ['job', ...members] }], current: 'job', evidence });
      await frame();
    } else if (at % 20 === 0) {
      connection.listen('continued', { session: members[at % members.length], threadId: 1 });
    } else if (at % 50 === 1) {
      connection.listen('session', { name: 'job', state: 'running', timeline: 'night', holder: null, held: {} });
    } else {
      connection.listen('output', { category: at % 3 ? 'stdout' : 'stderr', output: `${at} ${'y'.repeat(60)}\n` });
    }
  }
  await frame();
});
