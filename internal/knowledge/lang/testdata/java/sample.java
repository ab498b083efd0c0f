/*
 * Licensed to nobody.
 */
package com.example.shop;

import java.util.List;
import java.util.Map;
import java.util.concurrent.*;
import java.util.function.Function;
import static java.util.stream.Collectors.toList;
import static org.junit.Assert.*;
import com.example.shop.model.Item;

/**
 * Sells things.
 *
 * @author nobody
 */
@Service
@Path(value = "/shop", tags = {Tags.SHOP})
public abstract class Shop<T extends Item, K> extends BaseShop<T> implements Seller<T>, java.io.Closeable {
    public static final int MAX = 10;
    private static final Logger LOG = LoggerFactory.getLogger(Shop.class);
    static final Map<String, Rate> RATES = new HashMap<>(), OTHER = loadRates();

    private final Repository<T> repository;
    protected List<T> items = new ArrayList<>();
    @Inject private Clock clock;
    Map<String, Customer> customers;
    private Item[] featured;
    private volatile Supplier<Gateway> gateway;

    static {
        LOG.info("loaded");
        Registry.register(Shop.class);
    }

    {
        setUp();
    }

    /** Opens a shop. */
    public Shop(Repository<T> repository, Config config, String... names) {
        super(config);
        this.repository = repository;
        config.validate();
        names[0].trim();
    }

    protected Shop(Config config) {
        this(new JdbcRepository<>(config), config);
    }

    // Sells one.
    @Override
    @Transactional(readOnly = false)
    public Receipt sell(T item, final Customer customer) throws SoldOutException, IOException {
        if (item == null) {
            throw new IllegalArgumentException("item");
        }
        item.reserve(clock.now());
        repository.find(item.id()).touch();
        var payment = new Payment(customer, item.price());
        payment.authorize();
        Receipt receipt = gateway.get().charge(payment);
        customers.get("x").notify(receipt);
        featured[0].promote();
        for (T other : items) {
            other.discount();
        }
        for (var promoted : featured) {
            promoted.promote();
        }
        items.forEach(i -> i.restock());
        items.stream().filter(i -> i.isFresh()).map(Item::label).collect(toList());
        customers.values().stream().forEach(this::remind);
        try (Connection connection = open(); var tx = connection.begin()) {
            tx.commit();
            connection.close();
        } catch (SQLException e) {
            e.getNextException().printStackTrace();
        } catch (IOException | RuntimeException e) {
            LOG.error("failed", e);
        } finally {
            super.sell(item, customer);
        }
        Object result = receipt;
        if (result instanceof Receipt printed && printed.valid()) {
            printed.print();
        }
        String text = switch (result) {
            case Refund refund -> refund.reason();
            case Pair(Left left, var right) -> left.side();
            default -> "none";
        };
        ((Special<T>) item).special();
        this.items.get(0).wrap().unwrap();
        Shop.Builder builder = Shop.builder().name("x");
        builder.build();
        return receipt;
    }

    private void remind(Customer customer) {
        Runnable job = new Runnable() {
            private int runs;

            @Override
            public void run() {
                customer.remind();
                helper(runs);
            }
        };
        executor().submit(job);
        new Thread(() -> customer.call()).start();
        Function<Item, String> label = Item::label;
        Comparator<Item> order = (Item a, Item b) -> a.compareTo(b);
        label.apply(null);
        Outer.Inner inner = new Outer.Inner(1);
        inner.go();
        com.example.Util.run();
    }

    protected abstract <R extends Comparable<R>> R best(Function<? super T, ? extends R> by);

    public static <E extends Event> void publish(E event, List<? extends Listener<E>> listeners) {
        event.stamp();
        listeners.get(0).on(event);
        Audit audit = Audit.of(event);
        audit.save();
    }

    static Builder builder() {
        return new Builder();
    }

    /** Builds shops. */
    public static class Builder {
        private String name;
        private Options options = Options.defaults();

        Builder name(String name) {
            this.name = name;
            options.check();
            return this;
        }

        Shop<?, ?> build() {
            class Local extends Shop<Item, String> {
                void open() {
                    name("local");
                }
            }
            return new Local();
        }
    }

    private class Entry implements Comparable<Entry> {
        int rank;

        public int compareTo(Entry other) {
            return Integer.compare(rank, other.rank);
        }
    }
}

/** How fast. */
enum Speed implements Rated {
    SLOW(1) {
        @Override
        double rate() {
            return base.slow();
        }
    },
    FAST(Rates.fast());

    private final Rate base;

    Speed(Rate base) {
        this.base = base;
    }

    double rate() {
        return base.value();
    }

    static Speed parse(String text) {
        return Speed.valueOf(text);
    }
}

/** A point. */
public record Point<N extends Number>(N x, Axis y) implements Shape {
    static final Point<Integer> ORIGIN = new Point<>(0, null);

    public Point {
        Objects.requireNonNull(x);
        y.check();
    }

    double length() {
        return y.scale(x);
    }
}

sealed interface Shape extends Drawable, Measured permits Point {
    int SIDES = 0;

    double length();

    default void draw(Canvas canvas) {
        canvas.line(length());
        helper();
    }

    private void helper() {}

    static Shape unit() {
        return Point.ORIGIN;
    }
}

@Retention(RetentionPolicy.RUNTIME)
@interface Audited {
    String value() default "";
    Class<? extends Auditor> by();
}
