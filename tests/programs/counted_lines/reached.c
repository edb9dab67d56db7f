int load(const char *text, int kind) {
    if (text == NULL)
        return -1;
    for (int i = 0; i < kind; i++) {
        if (i == 3) {
            continue;
        }
        if (kind > 5) {
            count++;
        } else if (kind == 4) {
            abort();
        }
    }
    return text[0];
}
int other(void) {
    return load(NULL, 1);
}
