package org.acme.shipping.route;

import java.util.List;
import java.util.Objects;

import org.acme.shipping.parcel.*;
import org.acme.util.Lazy;

public sealed interface Route permits Route.Direct, Route.Relay {
    int hops();

    Tariff tariff();

    default int price(Parcel parcel) {
        return tariff().cents(parcel.weight()) * hops(); //~ tariff Route.java:Route.tariff; cents Tariff.java:Tariff.cents; weight Parcel.java:Parcel.weight; hops Route.java:Route.hops
    }

    static Route between(String from, String to) {
        if (Objects.equals(from, to)) return new Direct(to); //~ equals -; Direct Route.java:Route.Direct
        Hub hub = Hub.nearest(from); //~ nearest Hub.java:Hub.nearest
        return new Relay(List.of(new Direct(hub.city()), hub.onward(to))); //~ Relay Route.java:Route.Relay; of -; Direct Route.java:Route.Direct; city Hub.java:Hub.city; onward Hub.java:Hub.onward
    }

    record Direct(String to) implements Route {
        @Override
        public int hops() {
            return 1;
        }

        @Override
        public Tariff tariff() {
            return Tariff.standard(); //~ standard Tariff.java:Tariff.standard
        }
    }

    record Relay(List<Route> legs) implements Route {
        private static final Lazy<Tariff> TARIFF = Lazy.of(Tariff::standard).map(t -> t.scaled(80)); //~ of Lazy.java:Lazy.of; map Lazy.java:Lazy.map; scaled Tariff.java:Tariff.scaled

        @Override
        public int hops() {
            return legs.stream().mapToInt(Route::hops).sum(); //~ stream -; mapToInt -; sum -
        }

        @Override
        public Tariff tariff() {
            return TARIFF.get(); //~ get Lazy.java:Lazy.get
        }

        Route last() {
            return legs.get(legs.size() - 1); //~ get -; size -
        }
    }
}
