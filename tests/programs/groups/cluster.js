// Workers of Node's cluster take the same steps; one of them takes another value.
const cluster = require("cluster");

function takeStep(worker, step) {
  const value = worker === 2 && step === 2 ? -1 : step * 10;
  return value; // @step
}

if (cluster.isPrimary) {
  for (let at = 0; at < 3; at++) cluster.fork();
} else {
  for (let step = 0; step < 4; step++) takeStep(cluster.worker.id, step);
  process.disconnect();
}
