// Allows itself only to read, write and exit one thread: exit_group, which _exit calls, is fatal.
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(void) {
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    if (write(1, "strict\n", 7) == 7) {
        _exit(3);
    }
}
