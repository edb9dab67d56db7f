#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

/* Three forks store their rank; one of them has no place to store it. */
static void store(int rank, int *place) {
    *place = rank; /* @crash */
}

int main(void) {
    int place = 0;
    for (int rank = 1; rank <= 3; rank++)
        if (!fork()) {
            store(rank, rank == 2 ? NULL : &place);
            _exit(0);
        }
    while (wait(0) > 0)
        ;
    return 0;
}
