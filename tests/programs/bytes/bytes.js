const request = Buffer.from('GET /index.html');
const word = new Uint8Array([104, 101, 108, 108, 111]);
const few = new Uint8Array([1, 2, 255, 65, 66]);
console.log(request, word, few); // @end
