package shop

import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking

data class Item(val name: String, val price: Int)

class Cart {
    private val items = mutableListOf<Item>()

    fun add(item: Item): Cart {
        items.add(item) // @add
        return this
    }

    inline fun count(accept: (Item) -> Boolean): Int {
        var found = 0
        for (item in all()) {
            if (accept(item)) found++ // @accept
        }
        return found // @found
    }

    fun all(): List<Item> = items

    fun total(): Int {
        var sum = 0
        for (item in items) {
            sum += item.price // @sum
        }
        return sum // @total
    }
}

suspend fun fetch(name: String): Item {
    val length = name.length
    delay(5)
    return Item(name, length * 10) // @fetched
}

fun parse(text: String): Int =
    try {
        text.toInt() // @parse
    } catch (problem: NumberFormatException) {
        throw IllegalArgumentException("no price: $text", problem) // @thrown
    }

fun main(words: Array<String>) {
    val cart = Cart()
    runBlocking {
        listOf("pen", "ink").map { async { fetch(it) } }.awaitAll().forEach { cart.add(it) }
    }
    val dear = cart.count { it.price > 20 } // @dear
    val names = cart.all().map { item -> item.name.uppercase() } // @names
    println("$dear $names ${cart.total()}")
    if (words.isNotEmpty()) println(parse(words[0])) // @parsed
}
