// Opens a door by an animation that is repeated, and checks each frame against the keys.
import assert from 'node:assert';
import { AnimationClip, AnimationMixer, Object3D, VectorKeyframeTrack } from './src/Three.js';

const times = [0, 1, 2, 3, 4];
const places = [0, 8, 12, 14, 0];

function expected(time) {
	const key = Math.min(Math.floor(time), 3);
	return places[key] + (places[key + 1] - places[key]) * (time - key);
}

const door = new Object3D();
const track = new VectorKeyframeTrack('.position', times, places.flatMap((x) => [x, 0, 0]));
const mixer = new AnimationMixer(door);
const action = mixer.clipAction(new AnimationClip('open', 4, [track]));
action.play();

const frames = Number(process.argv[2]);
for (let frame = 1; frame <= frames; frame++) {
	mixer.update(0.3);
	const jump = Math.abs(door.position.x - expected(action.time));
	assert(jump < 1e-6, `frame ${frame} at ${action.time.toFixed(2)} s: ${door.position.x}, not ${expected(action.time)}`);
}
console.log('the door moved as the keys say');
