// Values that come by std::function and a virtual method, and a text that grew.
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>

using Rule = std::function<int(int)>;

class Shape {
protected:
    double scale_;

public:
    explicit Shape(double scale) : scale_(scale) {}
    virtual ~Shape() = default;
    virtual double area() const = 0;
};

class Circle : public Shape {
    double radius_;

public:
    explicit Circle(double radius) : Shape(0.0), radius_(radius) {} // @scale
    double area() const override
    {
        double area = 3.14 * radius_ * radius_ * scale_;
        return area;
    }
};

static std::map<std::string, Rule> make_rules()
{
    std::map<std::string, Rule> rules;
    int percent = -250;
    rules["half"] = [percent](int price) { return price * percent / 100; }; // @lambda
    rules["flat"] = [](int) { return 10; };
    return rules;
}

static int apply(const std::map<std::string, Rule> &rules, const std::string &name, int price)
{
    auto found = rules.find(name);
    return found->second(price);
}

int main()
{
    auto rules = make_rules();
    int price = apply(rules, "half", 40);
    std::unique_ptr<Shape> shape = std::make_unique<Circle>(3);
    double area = shape->area();
    std::string key = "name";
    key += "-v"; // @grown
    std::printf("%d %g %s\n", price, area, key.c_str()); // @end
}
