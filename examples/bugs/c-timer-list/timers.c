/* Timers of a small event loop: a list sorted by deadline, with handles that cancel. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 24

struct timer {
    uint64_t deadline_ms;
    uint64_t period_ms;
    char name[NAME_MAX_LEN];
    struct timer *next;
    struct timer *previous;
};

struct wheel {
    struct timer *first;
    struct timer *last;
    uint64_t now_ms;
    unsigned fired;
};

static struct timer *timer_new(const char *name, uint64_t deadline_ms, uint64_t period_ms) {
    struct timer *timer = calloc(1, sizeof *timer);
    if (timer == NULL) {
        perror("timer_new");
        exit(1);
    }
    strncpy(timer->name, name, NAME_MAX_LEN - 1);
    timer->deadline_ms = deadline_ms;
    timer->period_ms = period_ms;
    return timer;
}

static void wheel_append(struct wheel *wheel, struct timer *timer) {
    timer->previous = wheel->last;
    timer->next = NULL;
    if (wheel->last != NULL) {
        wheel->last->next = timer;
    } else {
        wheel->first = timer;
    }
    wheel->last = timer;
}

static void wheel_insert(struct wheel *wheel, struct timer *timer) {
    struct timer *after = wheel->first;
    while (after != NULL && after->deadline_ms <= timer->deadline_ms) {
        after = after->next;
    }
    if (after == NULL) {
        wheel_append(wheel, timer);
        return;
    }
    timer->next = after;
    timer->previous = after->previous;
    if (after->previous != NULL) {
        after->previous->next = timer;
    } else {
        wheel->first = timer;
    }
    after->previous = timer;
}

static void wheel_unlink(struct wheel *wheel, struct timer *timer) {
    if (timer == wheel->first) {
        wheel->first = timer->next;
        if (wheel->first != NULL) {
            wheel->first->previous = NULL;
        }
        return;
    }
    timer->previous->next = timer->next;
    if (timer->next != NULL) {
        timer->next->previous = timer->previous;
    } else {
        wheel->last = timer->previous;
    }
}

static struct timer *wheel_find(struct wheel *wheel, const char *name) {
    for (struct timer *timer = wheel->first; timer != NULL; timer = timer->next) {
        if (strcmp(timer->name, name) == 0) {
            return timer;
        }
    }
    return NULL;
}

static int wheel_cancel(struct wheel *wheel, const char *name) {
    struct timer *timer = wheel_find(wheel, name);
    if (timer == NULL) {
        return 0;
    }
    wheel_unlink(wheel, timer);
    free(timer);
    return 1;
}

static void wheel_advance(struct wheel *wheel, uint64_t by_ms) {
    wheel->now_ms += by_ms;
    while (wheel->first != NULL && wheel->first->deadline_ms <= wheel->now_ms) {
        struct timer *due = wheel->first;
        wheel_unlink(wheel, due);
        wheel->fired += 1;
        printf("%6llu ms  %s\n", (unsigned long long)wheel->now_ms, due->name);
        if (due->period_ms != 0) {
            due->deadline_ms = wheel->now_ms + due->period_ms;
            due->previous = due->next = NULL;
            wheel_insert(wheel, due);
        } else {
            free(due);
        }
    }
}

/* The time until the loop has to wake up for the last time. */
static uint64_t wheel_horizon(const struct wheel *wheel) {
    uint64_t latest = wheel->last->deadline_ms;
    return latest > wheel->now_ms ? latest - wheel->now_ms : 0;
}

static void shut_down(struct wheel *wheel) {
    const char *names[] = {"retry", "flush", "heartbeat"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        printf("cancel %s: %s\n", names[i], wheel_cancel(wheel, names[i]) ? "done" : "not there");
    }
    wheel_append(wheel, timer_new("goodbye", wheel->now_ms + 5, 0));
    printf("ends in %llu ms\n", (unsigned long long)wheel_horizon(wheel));
    struct timer *final = wheel_find(wheel, "goodbye");
    printf("waiting for %s\n", final->name);
    wheel_advance(wheel, 10);
}

int main(void) {
    struct wheel wheel = {0};
    wheel_insert(&wheel, timer_new("heartbeat", 100, 100));
    wheel_insert(&wheel, timer_new("flush", 250, 0));
    wheel_insert(&wheel, timer_new("retry", 40, 0));
    for (int i = 0; i < 2; i++) {
        wheel_advance(&wheel, 60);
    }
    shut_down(&wheel);
    printf("fired %u\n", wheel.fired);
    return 0;
}
