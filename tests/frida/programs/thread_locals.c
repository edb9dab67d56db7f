// Thread-locals of a program, and with -DLIBRARY those of its library.
#ifdef LIBRARY
__thread int shared = 7;
static __thread long hidden = 70;
int bump(int n) {
    shared += n;
    hidden += n;
    return shared + (int)hidden;
}
#else
int bump(int n);
__thread int mine = 3;
int main(void) {
    mine = bump(1) + bump(2);
    return mine == 0;
}
#endif
