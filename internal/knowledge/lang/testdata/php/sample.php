<!DOCTYPE html>
<?php

declare(strict_types=1);

namespace App\Shop;

use App\Model\Item;
use App\Model\{Customer, Order as Purchase};
use App\Support\Str as Text, App\Support\Arr;
use function App\helpers\format;
use const App\LIMIT;

require_once 'bootstrap.php';
require __DIR__ . '/config.php';

const VERSION = '1.0';
define('DEBUG', false);

/**
 * Anything that can be sold.
 */
interface Sellable extends Priced, \JsonSerializable
{
    const CURRENCY = 'EUR';

    public function sell(Customer $customer, int ...$amounts): ?Receipt;
}

trait LogsEvents
{
    protected Logger $logger;

    /** Logs one. */
    public function log(string $message): static
    {
        $this->logger->info(Text::upper($message));
        return $this;
    }
}

/** How far an order is. */
enum Status: string implements HasLabel
{
    case Open = 'open';
    case Paid = 'paid';
    const Default = self::Open;

    public static function fromOrder(Purchase $order): self
    {
        return match (true) {
            $order->isPaid() => self::Paid,
            default => Status::Open,
        };
    }

    public function label(): string
    {
        return ucfirst($this->value);
    }
}

/**
 * Sells things.
 */
#[Service(name: 'shop')]
#[Cached]
abstract class Shop extends BaseShop implements Sellable, Countable
{
    use LogsEvents, Macroable {
        log as protected traitLog;
    }

    public const MAX = 10, MIN = 1;
    private const SECRET = Config::KEY;

    private ?Repository $repository;
    public static ?self $instance = null;
    protected array $items = [];
    #[Inject] private Clock $clock;
    private $cache;

    public function __construct(
        private readonly Mailer $mailer,
        protected Gateway|null $gateway = new NullGateway(),
        ?Repository $repository = null,
    ) {
        parent::__construct($mailer);
        $this->repository = $repository ?? new MemoryRepository();
        $this->cache = new Cache('shop');
        $pool = Pool::create();
        $this->pool = $pool;
    }

    public static function instance(): static
    {
        return static::$instance ??= new static(new Mailer());
    }

    /** Sells one. */
    public function sell(Customer $customer, int ...$amounts): ?Receipt
    {
        $item = $this->repository->find($amounts[0]);
        $item->reserve();
        $this->cache->get('x')?->touch();
        $this->pool->acquire();
        $order = new Purchase($customer, $item);
        $order->addLine(new Line($item))->confirm();
        $receipt = $this->gateway->charge($order);
        $receipt->print();
        self::audit($receipt);
        static::instance()->log('sold');
        parent::sell($customer);
        $this->mailer->send($customer->email(), format($receipt), ...$amounts);
        foreach ($this->items as $key => $line) {
            $line->ship($key);
        }
        foreach ($order->lines() as $line) {
            $line->ship();
        }
        $callback = function (Item $sold) use ($order): void {
            $order->touch();
            $sold->touch();
        };
        $callback($item);
        $prices = array_map(fn (Item $i): float => $i->price(), $this->items);
        try {
            $this->risky();
        } catch (SoldOutException | StockException $e) {
            $e->report();
        } catch (\RuntimeException $e) {
            throw new ShopException($e->getMessage(), 0, $e);
        } finally {
            $this->clock->now()->format('c');
        }
        if ($item instanceof Perishable && $item->fresh()) {
            $item->cool();
        }
        $handler = new class($order) extends Handler implements Runs {
            public function __construct(private Purchase $order)
            {
            }

            public function run(): void
            {
                $this->order->touch();
                helper();
            }
        };
        $handler->run();
        $class = Item::class;
        $class::make();
        $object = clone $item;
        $object->touch();
        $text = <<<TXT
        Sold {$item->name()} to {$customer->name()}
        TXT;
        \App\Util::dump($text, Status::Open->label());
        return $receipt ?: null;
    }

    abstract protected function price(Item $item): float;

    private static function audit(?Receipt $receipt, string &$out = self::CURRENCY): void
    {
        if ($receipt === null) {
            return;
        }
        $receipt->audit();
        Shop::$instance->log('audited');
    }

    public function __get(string $name): mixed
    {
        return $this->items[$name] ?? null;
    }
}

final class Counter
{
    public int $count = 0;

    function increment(int $by = 1): self
    {
        $this->count += $by;
        return $this;
    }
}

/** Makes a shop. */
function make_shop(Mailer $mailer): Shop
{
    $counter = new Counter();
    $counter->increment()->increment(2);
    function nested(): void
    {
        \strlen('x');
    }
    return new GeneralShop($mailer);
}

if (!function_exists('app')) {
    function app(): Application
    {
        return Application::getInstance();
    }
}

$shop = make_shop(new Mailer());
$shop->sell(new Customer('a'));
?>
<p><?= $shop->log('done') ?></p>
