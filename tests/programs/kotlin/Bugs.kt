package shop.bugs

import java.util.concurrent.CompletableFuture
import java.util.concurrent.Executors
import kotlinx.coroutines.GlobalScope
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

data class Line(val code: String, val count: Int)

/** Prices by code; a supplier's file may have no price for a code. */
class Catalogue(rows: List<String>) {
    private val prices = rows.associate { row ->
        val (code, cents) = row.split("=")
        code.trim() to cents.toIntOrNull() // @parsed
    }

    fun priceOf(code: String): Int = prices[code]!! // @priced
}

fun bill(catalogue: Catalogue, lines: List<Line>): Int =
    lines.sumOf { line -> catalogue.priceOf(line.code) * line.count } // @billed

/** What a customer has bought; the discount is the shop's for all. */
class Customer(val name: String, val discounts: MutableList<Int> = NONE) {
    var spent = 0

    fun buy(cents: Int) {
        spent += cents * (100 - discounts.sum()) / 100 // @spent
    }

    fun reward(percent: Int) {
        discounts.add(percent) // @rewards
    }

    companion object {
        val NONE = mutableListOf<Int>() // @shared
    }
}

/** A stock whose free places are counted beside the orders. */
class Stock(private var free: Int) {
    private val orders = mutableMapOf<String, Int>()

    fun order(code: String, count: Int) {
        orders[code] = count // @overwrites
        free -= count
        check(code) // @ordered
    }

    private fun check(code: String) = orders.getValue(code)
}

fun cheapest(cents: List<Int>): Int =
    cents.first { it < 5 } // @cheapest

suspend fun priceLater(catalogue: Catalogue, code: String): Int {
    delay(1)
    return catalogue.priceOf(code)
}

sealed interface Parcel
data class Letter(val grams: Int) : Parcel
data class Box(val grams: Int, val fragile: Boolean) : Parcel

fun postage(parcel: Parcel): Int = when (parcel) {
    is Letter -> if (parcel.grams > 50) 160 else 85
    is Box -> when {
        parcel.grams > 1000 -> 799 // @heavy
        parcel.fragile -> 1099 // @fragile
        else -> 499
    }
}

suspend fun quote(parcel: Parcel): Int {
    delay(1)
    return postage(parcel)
}

/** A report of parts; the parts run in the pool of the report. */
fun report(): String {
    val pool = Executors.newSingleThreadExecutor { task -> Thread(task, "reports") }
    val done = CompletableFuture.supplyAsync({
        val part = CompletableFuture.supplyAsync({ "part" }, pool)
        part.join() // @starved
    }, pool)
    return done.join().also { pool.shutdown() } // @awaited
}

fun main(words: Array<String>) {
    when (words.first()) {
        "bill" -> {
            val catalogue = Catalogue(listOf("pen=30", "ink=9O", "cap=5"))
            println(bill(catalogue, listOf(Line("pen", 2), Line("ink", 1))))
        }
        "reward" -> {
            val (ada, bob) = listOf(Customer("ada"), Customer("bob"))
            ada.reward(20)
            bob.buy(1000)
            println("${bob.name} ${bob.spent}") // @shown
        }
        "order" -> {
            val stock = Stock(10)
            for ((code, count) in listOf("pen" to 2, "ink" to 3, "pen" to 4)) stock.order(code, count)
        }
        "post" -> runBlocking {
            val parcels = listOf(Letter(20), Box(300, true), Box(1500, true))
            println(parcels.map { async { quote(it) } }.awaitAll())
        }
        "report" -> println(report())
        "cheapest" -> println(cheapest(listOf(30, 9)))
        "launch" -> runBlocking {
            val catalogue = Catalogue(listOf("pen=30", "ink=9O"))
            GlobalScope.launch { println(priceLater(catalogue, "ink")) }.join()
        }
    }
}
