int calls;

__attribute__((constructor)) static void begins(void) { calls = 10; }

int added(int x) {
    calls++;
    return calls + x;
}
