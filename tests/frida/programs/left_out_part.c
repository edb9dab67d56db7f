/* The other file of left_out.c, with a variable of the same name. */
static int state = 20;
int part(void)
{
    static int calls_of_part = 30;
    return state++ + calls_of_part++; /* @part */
}
