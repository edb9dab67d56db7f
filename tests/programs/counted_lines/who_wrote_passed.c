
static int average(int total, int n) {
    int sum = total / n;
    return sum;
}
static int moved(int total) {
    total += 1;
    return total;
}
static int deep(int left) {
    if (left == 0)
        return 0;
    return deep(left - 1);
}
int main(void) {
    int sum = 0;
    for (int i = 1; i < 4; i++)
        sum += average(sum + i,
            i);
    sum += moved(sum);
    sum += moved(4);
    return deep(3);
}
