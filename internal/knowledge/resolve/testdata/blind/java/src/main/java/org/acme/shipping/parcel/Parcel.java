package org.acme.shipping.parcel;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

import org.acme.shipping.route.Route;
import org.acme.util.Check;

public abstract class Parcel implements Iterable<Parcel.Item> {
    protected final List<Item> items = new ArrayList<>();
    private Route route;
    Status status = Status.PACKED;

    public enum Status {
        PACKED {
            @Override
            public Status next() {
                return SENT;
            }
        },
        SENT {
            @Override
            public Status next() {
                return DELIVERED;
            }
        },
        DELIVERED;

        public Status next() {
            throw new IllegalStateException(name()); //~ name -
        }

        public boolean last() {
            return this == DELIVERED;
        }
    }

    public class Item {
        private final String name;
        private final Weight weight;

        Item(String name, Weight weight) {
            this.name = Check.notNull(name, "name"); //~ notNull Check.java:Check.notNull
            this.weight = weight;
        }

        public Weight weight() {
            return weight;
        }

        public void remove() {
            items.remove(this); //~ remove -
            changed(); //~ changed Parcel.java:Parcel.changed
            Parcel.this.describe(); //~ describe Parcel.java:Parcel.describe
        }

        String describe() {
            return name + " in " + Parcel.this.label(); //~ label Parcel.java:Parcel.label
        }
    }

    public Parcel pack(String name, Weight weight) {
        items.add(new Item(name, weight)); //~ add -; Item Parcel.java:Parcel.Item.Item
        changed(); //~ changed Parcel.java:Parcel.changed
        return this;
    }

    public Parcel pack(String name) {
        return pack(name, Weight.ZERO); //~ pack Parcel.java:Parcel.pack
    }

    public Weight weight() {
        Weight sum = tare(); //~ tare Parcel.java:Parcel.tare
        for (Item item : items) {
            sum = sum.plus(item.weight()); //~ plus Weight.java:Weight.plus; weight Parcel.java:Parcel.Item.weight
        }
        return sum;
    }

    protected abstract Weight tare();

    public abstract String label();

    protected void changed() {}

    public String describe() {
        StringBuilder text = new StringBuilder(label()); //~ label Parcel.java:Parcel.label
        items.stream().map(Item::describe).forEach(line -> text.append(line)); //~ stream -; map -; forEach -; append -
        return text.toString(); //~ toString -
    }

    public void advance() {
        if (!status.last()) { //~ last Parcel.java:Parcel.Status.last
            status = status.next(); //~ next Parcel.java:Parcel.Status.next@31
        }
    }

    public Optional<Route> route() {
        return Optional.ofNullable(route); //~ ofNullable -
    }

    public void via(Route route) {
        this.route = route;
    }

    @Override
    public Iterator<Item> iterator() {
        return new Iterator<Item>() {
            private int at;

            @Override
            public boolean hasNext() {
                return at < items.size() && ok(); //~ size -; ok -
            }

            private boolean ok() {
                return status != null;
            }

            @Override
            public Item next() {
                return items.get(at++); //~ get -
            }
        };
    }
}
