// A name that is too long for its field runs over into the balance beside it.
#include <cstdio>
#include <cstring>

struct Account {
    char name[8];
    int balance;
};

static void rename_account(Account &account, const char *name) {
    for (std::size_t at = 0; at <= std::strlen(name); at++) {
        account.name[at] = name[at]; // @writes
    }
}

static int total(const Account *accounts, int count) {
    int sum = 0;
    for (int at = 0; at < count; at++) {
        sum += accounts[at].balance; // @reads
    }
    return sum;
}

int main() {
    Account accounts[] = {{"ada", 100}, {"bob", 50}, {"eve", 25}};
    std::printf("before %d\n", total(accounts, 3)); // @before
    rename_account(accounts[1], "bobby");
    rename_account(accounts[1], "roberto ii");
    std::printf("after %d\n", total(accounts, 3)); // @after
    return 0;
}
