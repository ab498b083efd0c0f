@file:JvmName("Shops")

package com.example.shop

import com.example.model.Item
import com.example.model.Customer as Client
import com.example.util.*
import kotlinx.coroutines.flow.Flow

/** How many at most. */
const val MAX_ITEMS = 10
private val log = LoggerFactory.getLogger("shop")
val registry: Registry by lazy { Registry.create() }

typealias Handler = (Event) -> Unit
typealias Index<T> = Map<String, Entry<T>>

/** How fast. */
enum class Speed(val factor: Factor) : Rated {
    SLOW(Factor.low()) {
        override fun rate(): Double {
            return factor.slow()
        }
    },
    FAST(Factor.high());

    open fun rate() = factor.value()

    companion object {
        fun parse(text: String): Speed = valueOf(text)
    }
}

interface Repository<T : Entity, K> : Readable<T> {
    val size: Int
    suspend fun find(key: K): T?
    fun save(entity: T): Boolean {
        return validate(entity)
    }
}

fun interface Listener {
    fun on(event: Event)
}

data class Receipt(val number: Int, val lines: List<Line>, var owner: Client?) : Printable

sealed class Result<out T> {
    data class Ok<T>(val value: T) : Result<T>()
    object Empty : Result<Nothing>()
}

/**
 * Sells things.
 */
@Service("shop")
@Cached
open class Shop<T : Item>(
    private val repository: Repository<T, String>,
    protected val clock: Clock = Clock.system(),
    config: Config,
) : BaseShop<T>(config), Seller {

    private val items: MutableList<Item> = mutableListOf()
    private val customers = HashMap<String, Client>()
    var gateway: Gateway? = null
    lateinit var mailer: Mailer
    private val cache by lazy { Cache.open("shop") }

    val count: Int
        get() = items.size

    var state: State = State.initial()
        set(value) {
            value.check()
            field = value
        }

    init {
        config.validate()
        register(this)
    }

    constructor(config: Config) : this(MemoryRepository(), Clock.system(), config) {
        log.info("default")
    }

    // Sells one.
    @Throws(SoldOut::class)
    override suspend fun sell(key: String, customer: Client, vararg tags: Tag): Receipt? {
        val item = repository.find(key) ?: return null
        item.reserve(clock.now())
        val payment = Payment(customer, item.price())
        payment.authorize()
        val receipt: Receipt = gateway!!.charge(payment)
        receipt.print()
        receipt.owner?.notify("sold")
        items.forEach { it.restock() }
        items.filter { i -> i.fresh() }.map { it.label() }
        items.first().touch()
        items[0].touch()
        customers["x"]?.greet()
        for (other in items) {
            other.discount()
        }
        for ((name, known) in customers) {
            known.greet()
        }
        cache.get(key).touch()
        mailer.send(customer.email(), subject = title(item))
        payment.also { it.settle() }.close()
        val special = item as Special
        special.shine()
        if (customer is Premium) {
            customer.reward()
        }
        when (val result = load(key)) {
            is Result.Ok<*> -> result.use()
            Result.Empty -> fallback()
            else -> error("unknown $result ${receipt.total()}")
        }
        when (customer) {
            is Premium -> customer.reward()
        }
        try {
            risky()
        } catch (e: PaymentException) {
            e.report()
            throw ShopException("failed", e)
        } finally {
            super.audit(receipt)
        }
        val listener = object : Listener {
            override fun on(event: Event) {
                event.accept()
                remember(event)
            }
        }
        listener.on(Event.Opened(1))
        val handler: Handler = { event -> event.accept() }
        handler(Event())
        tags.forEach(::apply)
        items.map(Item::label)
        with(receipt) {
            seal()
        }
        transaction(key) { tx ->
            tx.commit()
        }
        val zipped = (key zipWith receipt)
        fun local(n: Int): Line {
            return Line(n)
        }
        local(2).show()
        registry.flush()
        com.example.Util.dump(receipt)
        return receipt.copy(number = nextNumber())
    }

    private inline fun <reified R> convert(value: Any): R = value as R

    override fun close() {
        this.mailer.close()
    }

    companion object Factory {
        const val DEFAULT = "default"

        @JvmStatic
        fun create(config: Config): Shop<Item> {
            return Shop<Item>(config).apply { start() }
        }
    }

    inner class Cursor(private val at: Int) {
        fun next(): Item = items[at].clone()
    }
}

class Guarded(private val inner: Seller) : Seller by inner, Closeable

/** Makes a slug. */
fun String.slug(limit: Int = 3): String {
    return this.trim().replaceAll(" ", "-")
}

internal fun <T> List<T>.second(): T = this[1]

object Registry : Store() {
    private val shops = mutableMapOf<String, Shop<*>>()

    fun create(): Registry = this

    operator fun plus(shop: Shop<*>) {
        shops.put(shop.name(), shop)
    }
}

fun main(args: Array<String>) {
    val shop = Shop.create(Config.load(args[0]))
    shop.close()
    println("a b".slug())
    Registry.create().flush()
}
