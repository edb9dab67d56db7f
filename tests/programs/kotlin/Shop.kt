package shop

import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking

data class Item(val name: String, val price: Int)

class Cart {
    private val items = mutableListOf<Item>()
    val size: Int get() = items.size

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

enum class Place { NEAR, FAR, ABROAD } // @place

fun fee(place: Place): Int = when (place) {
    Place.NEAR -> 1
    Place.FAR -> 4 // @far
    Place.ABROAD -> 9
}

fun Cart.describe(): String = "${total()}"

fun main(words: Array<String>) {
    val cart = Cart()
    runBlocking {
        listOf("pen", "ink").map { async { fetch(it) } }.awaitAll().forEach { cart.add(it) }
    }
    val dear = cart.count { it.price > 20 } // @dear
    val names = cart.all().map { item -> item.name.uppercase() } // @names
    val paid = fee(Place.FAR)
    var last = cart.all().map { it.price } // @last
    val forget = { last = emptyList() }
    println("$dear $names ${cart.describe()}") // @shown
    if (words.size > 1) forget()
    if (words.isNotEmpty()) println(parse(words[0]) + last.size + paid) // @parsed
}
