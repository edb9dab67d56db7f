#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <stdexcept>
#include <string>

#define KEEP __attribute__((noinline, noclone, noipa))

enum Color { RED, GREEN = 5 };
enum class Mode : unsigned char { off, on };
struct Small { int a, b; };
struct Large { long a[5]; };

namespace audio {
KEEP int add(int a, int b) { return a + b; }
KEEP double scale(double by, int times, float rest) { return by * times + rest; }
KEEP bool is_on(Mode mode, Color color, bool really) { return mode == Mode::on && color && really; }
KEEP const char *greet(const char *name, char letter, unsigned char byte) {
    return letter && byte ? name : nullptr;
}
KEEP void nothing() { asm volatile(""); }
KEEP Large large(long a, Small small, short s) {
    Large made = {{a, small.a, small.b, s, 0}};
    return made;
}
KEEP unsigned long fold(unsigned n) { return n < 2 ? n : fold(n - 1) + n; }
namespace inner { KEEP int deep(int n) { return -n; } }
}

KEEP long jumped_to(long n) { asm volatile(""); return n + 1; }
KEEP long jumps(long n) { return jumped_to(n * 2); }

struct Guard { int *count; ~Guard() { ++*count; } };
KEEP int thrower(int n) { if (n) throw std::runtime_error("bad"); return n; }
KEEP int between(int n, int *count) { Guard guard{count}; return thrower(n) + 1; }
KEEP int catches(int n) {
    int count = 0;
    try { return between(n, &count); } catch (const std::exception &) { return 100 + count; }
}

static jmp_buf back;
KEEP void leaps(int n) { if (n) longjmp(back, n); }
KEEP int lands(int n) {
    if (int got = setjmp(back)) return got;
    leaps(n);
    return 0;
}

static void *work(void *given) {
    long sum = 0;
    for (int i = 0; i < 200; i++) sum += audio::add(i, (int)(long)given) + catches(i & 1);
    return (void *)sum;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    long sum = audio::add(1, -2) + audio::inner::deep(3);
    std::printf("%g %d\n", audio::scale(1.5, 2, 0.25f), audio::is_on(Mode::on, GREEN, true));
    std::printf("%s\n", audio::greet("Ada \"L\"", 'x', 200));
    audio::greet((const char *)16, 'y', 7);
    audio::greet("a text that is much longer than the room for it is", 'z', 7);
    audio::nothing();
    sum += audio::large(7, Small{1, 2}, -3).a[2];
    sum += (long)audio::fold(20);
    sum += jumps(20);
    for (int i = 0; i < rounds; i++) sum += catches(1) + lands(3) + catches(0);
    pthread_t threads[3];
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], nullptr, work, (void *)i);
    for (auto &one : threads) { void *got; pthread_join(one, &got); sum += (long)got; }
    std::printf("%ld\n", sum);
    return 9;
}
