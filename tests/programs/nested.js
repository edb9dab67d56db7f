function down(n) {
    if (n === 0) {
        const none = 0; // @deepest
        return none;
    }
    const below = down(n - 1);
    return below + n;
}

const sum = down(3); // @calls
console.log(sum);
