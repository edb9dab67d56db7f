// Imports what `rates.mjs` exports.
import { priceOf, setRate } from './rates.mjs';

setRate(undefined);
const price = priceOf({ price: 3 });
await null;
console.log(price);
