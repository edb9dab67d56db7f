int square__shop_42(int n) {
    return n * n;
}

int shop__fill(int n) {
    return n;
}

int main(void) {
    return square__shop_42(1) + shop__fill(-1);
}
