import std.stdio;

class TooMuch : Exception { this(string text) { super(text); } }
class Shop { int shade; int[] prices; }

int total;

void add(int amount) {
    total = total + amount; // @adds
}

void check(int value) {
    if (value > 50)
        throw new TooMuch("too much"); // @raises
}

void main() {
    auto shop = new Shop;
    shop.prices = [10, 20, 30]; // @prices
    foreach (price; shop.prices) add(price);
    try check(100);
    catch (TooMuch error) shop.shade = 2; // @shades
    writeln(total); // @checks
    check(total);
}
