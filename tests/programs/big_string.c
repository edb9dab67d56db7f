/* A local that points at a string of 100 MB. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    size_t size = 100u * 1000 * 1000;
    char *big = malloc(size + 1);
    if (big == NULL) {
        return 1;
    }
    memset(big, 'x', size);
    big[size] = '\0';
    printf("length %zu\n", strlen(big)); // @big
    free(big);
    return 0;
}
