package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class CartTest {
    @Test
    void emptyIsZero() {
        assertEquals(0, new Cart().total());
    }

    @Test
    @DisplayName("all prices count")
    void addsAll() {
        Cart cart = new Cart();
        cart.add(10);
        cart.add(20);
        int total = cart.total();
        assertEquals(30, total, "the total");
    }
}
