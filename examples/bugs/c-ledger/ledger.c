/* A ledger of accounts: tellers move money between them, each account under a lock of its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACCOUNTS 6
#define TELLERS 2

struct account {
    char owner[16];
    long balance;
    pthread_mutex_t lock;
};

struct transfer {
    int from;
    int to;
    long amount;
};

struct teller {
    const char *name;
    const struct transfer *orders;
    int count;
    int done;
    int refused;
};

static struct account accounts[ACCOUNTS];
static pthread_barrier_t opening;

static const struct transfer morning[] = {
    {0, 1, 20}, {2, 3, 15}, {4, 5, 5}, {1, 2, 40}, {3, 0, 10},
};
static const struct transfer evening[] = {
    {5, 4, 30}, {3, 2, 25}, {1, 0, 10}, {2, 4, 60}, {0, 5, 35},
};

static void open_accounts(void)
{
    static const char *names[ACCOUNTS] = {"ada", "bob", "cyd", "dan", "eve", "fay"};
    for (int i = 0; i < ACCOUNTS; i++) {
        snprintf(accounts[i].owner, sizeof accounts[i].owner, "%s", names[i]);
        accounts[i].balance = 100;
        pthread_mutex_init(&accounts[i].lock, NULL);
    }
}

static long fee(long amount)
{
    return amount >= 50 ? 2 : 1;
}

/* Let the other tellers get as far, so that a day's work is done side by side. */
static void take_turns(void)
{
    pthread_barrier_wait(&opening);
}

static int move_money(struct account *from, struct account *to, long amount)
{
    int is_covered;

    pthread_mutex_lock(&from->lock);
    take_turns();
    pthread_mutex_lock(&to->lock);
    is_covered = from->balance >= amount + fee(amount);
    if (is_covered) {
        from->balance -= amount + fee(amount);
        to->balance += amount;
    }
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
    return is_covered;
}

static void *work(void *given)
{
    struct teller *teller = given;
    for (int i = 0; i < teller->count; i++) {
        const struct transfer *order = &teller->orders[i];
        if (move_money(&accounts[order->from], &accounts[order->to], order->amount))
            teller->done++;
        else
            teller->refused++;
    }
    return NULL;
}

static void report(const struct teller *teller)
{
    printf("%s: %d done, %d refused\n", teller->name, teller->done, teller->refused);
}

int main(void)
{
    struct teller tellers[TELLERS] = {
        {"morning", morning, sizeof morning / sizeof morning[0], 0, 0},
        {"evening", evening, sizeof evening / sizeof evening[0], 0, 0},
    };
    pthread_t threads[TELLERS];

    open_accounts();
    pthread_barrier_init(&opening, NULL, TELLERS);
    for (int i = 0; i < TELLERS; i++)
        pthread_create(&threads[i], NULL, work, &tellers[i]);
    for (int i = 0; i < TELLERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < TELLERS; i++)
        report(&tellers[i]);
    for (int i = 0; i < ACCOUNTS; i++)
        printf("%-4s %4ld\n", accounts[i].owner, accounts[i].balance);
    return 0;
}
