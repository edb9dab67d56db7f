package shop;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class AverageTest {
    @Test
    public void isOfTwo() {
        Cart cart = new Cart();
        cart.add(0);
        cart.add(8);
        assertEquals(4, cart.average());
    }

    @Test
    public void isZeroOfNone() {
        assertEquals(0, new Cart().average());
    }
}
