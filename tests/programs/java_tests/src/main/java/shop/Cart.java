package shop;

import java.util.ArrayList;
import java.util.List;

/** Adds prices, of which it passes over the first. */
public class Cart {
    private final List<Integer> prices = new ArrayList<>();

    public void add(int price) {
        prices.add(price);
    }

    public int total() {
        int sum = 0;
        for (int i = 1; i < prices.size(); i++) {
            sum += prices.get(i);
        }
        return sum;
    }

    public int average() {
        try {
            return total() / prices.size();
        } catch (ArithmeticException none) {
            throw new IllegalStateException("no prices", none);
        }
    }
}
