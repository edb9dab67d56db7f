package shop

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class CartTest {
    @Test
    fun addsAll() {
        val cart = Cart().add(Item("pen", 3)).add(Item("ink", 4))
        val total = cart.total()
        assertEquals(8, total) // @asserted
    }
}
