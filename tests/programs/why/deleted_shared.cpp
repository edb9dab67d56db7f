// Two scenes own one shape; the first one deletes it.
struct Style { long width; };

struct Shape {
    long marks[3] = {1, 2, 3};
    Style *style = nullptr;
};

struct Scene {
    Shape *first = nullptr;

    void add(Shape *shape) {
        first = shape;  // @stored
    }

    void clear() {
        first->style = nullptr;
        delete this->first;  // @deleted
        first = nullptr;
    }

    long width() const {
        Shape *shape = first;
        return shape->style->width;
    }
};

int main() {
    static Style style{2};
    auto *shape = new Shape;
    shape->style = &style;
    auto *one = new Scene, *other = new Scene;
    one->add(shape);
    other->add(shape);
    one->clear();
    delete[] new long[4];  // @again
    return static_cast<int>(other->width());
}
