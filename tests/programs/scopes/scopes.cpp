namespace geo {
template <class T> struct Box {
    T area(T height) {
        return height;
    }
};
int area(int side) {
    return side;
}
}
int main() {
    struct Local {
        int grow(int by) {
            return by;
        }
    };
    if (area(2)) {
        return 1;
    }
}
