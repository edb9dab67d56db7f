// A union and a struct without names, whose members belong to the struct around them.
struct Shape {
    int kind;
    union {
        int side;
        float radius;
    };
    struct {
        int x, y;
    };
};

static int where(struct Shape *shape) {
    return shape->x + shape->side; // @where
}

int main(void) {
    struct Shape shape = {1, {2}, {3, 4}};
    return where(&shape) != 5;
}
