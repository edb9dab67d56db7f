int scale(int count) {
    int scaled = count * 3;
    return scaled;
}
