package com.example
package shop

import com.example.model.Item
import com.example.util.{Clock, Logger => Log, _}
import com.example.conf._
import scala.concurrent.Future
import java.util.{List => JList, Map => _}

/** Limits of a shop. */
object Limits {
  val MaxItems = 10
  private[shop] val Secret: Token = Token.random()
  lazy val registry = new Registry("limits")
  type Index = Map[String, Item]

  def within(n: Int): Boolean = n < MaxItems
}

sealed trait Event {
  def at: Instant
  def describe: String = s"event ${at.show}"
}

case class Sold(item: Item, by: Customer) extends Event {
  val at: Instant = Instant.now()
}

case object Closed extends Event {
  override def at = Clock.system.now()
}

/** Keeps things.
  * In memory.
  */
trait Repository[T <: Entity, K] extends Readable[T] with Closeable {
  val size: Int
  def find(key: K): Option[T]
  def save(entity: T)(implicit ec: ExecutionContext): Future[T]
  def all: Seq[T] = Nil
}

/**
 * Sells things.
 */
@deprecated("use Store", "1.0")
abstract class Shop[T <: Item](repository: Repository[T, String], val clock: Clock = Clock.system, private val log: Log)(implicit config: Config)
    extends BaseShop[T](config)
    with Seller
    with Logging[T] {

  private val items: List[Item] = List.empty
  private var customers = Map.empty[String, Customer]
  protected val index: Map[String, Item] = buildIndex()
  val client = new HttpClient(config.url, 3)
  lazy val cache = Cache("shop")
  var gateway: Option[Gateway] = None
  val (left, right) = split(items)

  type Handler = Event => Unit

  def this(config: Config) = this(new MemoryRepository, Clock.system, Log.default)(config)

  /** Sells one. */
  @throws[SoldOut]("when empty")
  def sell[R >: Receipt](key: String, customer: Customer, tags: Tag*)(done: Receipt => R)(implicit ctx: Context): Future[R] = {
    val item = repository.find(key).get
    item.reserve(clock.now())
    val payment = new Payment(customer, item.price)
    payment.authorize()
    val receipt: Receipt = gateway.get.charge(payment)
    receipt.print()
    items.foreach(_.restock())
    items.filter(i => i.fresh()).map(i => i.label).sorted
    items.head.touch()
    items(0).touch()
    index("x").touch()
    tags.foreach { tag => tag.apply(item) }
    cache.fetch(key).touch()
    client.get("/items").send()
    customers.get("x").foreach(c => c.greet())
    for {
      other <- items
      line = other.line()
      if line.open()
      found <- repository.find(line.key)
    } yield found.merge(line)
    for (known <- items) known.discount()
    key match {
      case s: Special => s.shine()
      case Pair(a, b) if a.ok() => b.go()
      case _ => fallback()
    }
    repository.find("y") match {
      case Some(known) => known.touch()
      case None => ()
    }
    try {
      risky()
    } catch {
      case e: PaymentException => e.report()
      case NonFatal(e) => throw new ShopException("failed", e)
    } finally {
      super.audit(receipt)
    }
    val listener = new Listener {
      override def on(event: Event): Unit = {
        event.accept()
        remember(event)
      }
    }
    listener.on(Sold(item, customer))
    val handler: Handler = event => event.describe
    handler(Closed)
    receipt combine payment
    def local(n: Int): Line = new Line(n)
    local(2).show()
    this.log.info(s"sold ${receipt.total()}")
    item.asInstanceOf[Special].shine()
    Limits.registry.flush()
    com.example.Util.dump(receipt)
    Future.successful(done(receipt))
  }

  protected def load(key: String): T

  private def buildIndex(): Map[String, Item] = items.map(i => i.name -> i).toMap

  override def close(): Unit = this.client.close()

  class Cursor(at: Int) {
    def next: Item = items(at).copy()
  }
}

object Shop extends ShopFactory {
  val Default = new GeneralShop(Config.load())

  def apply(config: Config): Shop[Item] = {
    val shop = new GeneralShop(config)
    shop.start()
    shop
  }

  implicit class RichItem(item: Item) {
    def slug: String = item.name.toLowerCase
  }

  implicit def toLine(item: Item): Line = Line(item)
}

enum Color(val rgb: Int) extends Rated {
  case Red extends Color(0xff0000)
  case Green, Blue
  case Mixed(a: Color, b: Color)

  def mix(other: Color): Color = Mixed(this, other)
}

given ordering: Ordering[Item] with {
  def compare(a: Item, b: Item): Int = a.rank.compare(b.rank)
}

extension (item: Item) {
  def shout(suffix: String): String = item.name + suffix
  def twice: Pair = Pair(item, item)
}

type Callback = Receipt => Unit
val version = "1.0"

def helper(x: Int, f: => Item): Item = f.copy(x)

package object util {
  val Empty = Item("")
  def slug(text: String): String = text.trim
}

object Main extends App {
  val shop = Shop(Config.load())
  shop.sell("a", null)(r => r.print())
  shop.close()
}
