class Basket {
    constructor() {
        this.items = [];
    }
    add(item) {
        this.items.push(item);
        return this;
    }
    total(discount = 0) {
        var _a;
        let sum = 0;
        for (const item of this.items) {
            const cost = item.price * ((_a = item.count) !== null && _a !== void 0 ? _a : 1); // @cost
            sum += cost;
        }
        return sum - discount; // @sum
    }
}
async function later(value) {
    await null;
    return value; // @later
}
async function main() {
    const basket = new Basket().add({ name: "apple", price: 3, count: 2 }).add({ name: "pear", price: 4 });
    const total = await later(basket.total(1));
    console.log(`total ${total}`); // @print
    return total;
}
main().then((total) => {
    process.exitCode = total > 5 ? 3 : 0;
});
//# sourceMappingURL=shop.js.map