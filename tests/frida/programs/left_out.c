/* Variables that are easily taken for others: left out, of each thread, of functions, of two files. */
int unused = 7;
int kept = 3;
static int state = 1;
static _Thread_local int own = 5;
static _Thread_local long other = 6;

int removed(int n)
{
    return n * unused;
}

int count(void)
{
    static int calls = 10;
    other++;
    return calls++ + state + own++; /* @count */
}

int part(void);
int main(void)
{
    kept += count() + part();
    return kept == 0;
}
