class Cart {
    items = [];
    discount = 0;
    add(item) {
        this.items.push(item);
        return this;
    }
    total() {
        let sum = 0;
        for (const item of this.items)
            sum += item.price * item.count;
        return sum - this.discount;
    }
}
function redeem(basket, coupon) {
    const amount = parseInt(coupon.slice(1), 10);
    basket.discount = amount;
}
function checkout(coupons) {
    const basket = new Cart().add({ price: 10, count: 2 });
    for (const coupon of coupons)
        redeem(basket, coupon);
    const due = basket.total();
    if (Number.isNaN(due))
        throw new Error('bad total');
    return due;
}
checkout(['C5', 'X']);
//# sourceMappingURL=cart.js.map