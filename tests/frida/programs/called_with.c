// Parameters that only the caller still knows, by the call site's debug information.
volatile int sink;

__attribute__((noinline)) void deep(int k) { sink += k; }

__attribute__((noinline)) int middle(int n, int m, const char *name) {
    deep(m * 2);
    sink += m + n;
    deep(7);
    return sink + (name != 0);
}

__attribute__((noinline)) int outer(int a, int b) {
    int r = middle(a + 1, b, "five");
    deep(b);
    return r + 1;
}

int main(void) { return outer(5, 30) == 0; }
