package org.acme.app;

import static org.acme.shipping.parcel.Parcels.make;
import static org.acme.util.Check.*;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.acme.shipping.parcel.Parcel;
import org.acme.shipping.parcel.Weight;
import org.acme.shipping.route.Route;

public class Desk extends AbstractDesk<Parcel> {
    private final Deque<Parcel> waiting = new ArrayDeque<>();
    private final Map<String, List<Parcel>> sent = new HashMap<>();
    private final Auditor auditor = new Auditor() { //~ Auditor Desk.java:Desk.Auditor
        private int count;

        @Override
        public void accepted(Parcel parcel) {
            count++;
            print(parcel.label() + count); //~ print -; label Parcel.java:Parcel.label
        }

        private void print(String text) {
            System.out.println(text); //~ println -
        }
    };

    interface Auditor {
        void accepted(Parcel parcel);

        default void refused(Parcel parcel, String why) {
            log(why + ": " + parcel.describe()); //~ log Desk.java:Desk.Auditor.log; describe Parcel.java:Parcel.describe
        }

        private static void log(String text) {
            System.err.println(text); //~ println -
        }
    }

    public Parcel accept(String kind, String... names) {
        Parcel parcel = make(kind); //~ make Parcels.java:Parcels.make
        for (var name : names) {
            parcel.pack(name).pack(name + "'s twin", Weight.kilos(1)); //~ pack Parcel.java:Parcel.pack; pack#2 Parcel.java:Parcel.pack@70; kilos Weight.java:Weight.kilos
        }
        if (!accepts(parcel)) { //~ accepts Desk.java:Desk.accepts
            auditor.refused(parcel, "heavy"); //~ refused Desk.java:Desk.Auditor.refused
            return null;
        }
        waiting.add(parcel); //~ add -
        auditor.accepted(parcel); //~ accepted Desk.java:Desk.Auditor.accepted
        return handled(parcel); //~ handled AbstractDesk.java:AbstractDesk.handled
    }

    @Override
    protected boolean accepts(Parcel parcel) {
        return !parcel.weight().heavierThan(limit()); //~ weight Parcel.java:Parcel.weight; heavierThan Weight.java:Weight.heavierThan; limit AbstractDesk.java:AbstractDesk.limit
    }

    public int send(String from, String to) {
        Route route = Route.between(from, to); //~ between Route.java:Route.between
        int cents = 0;
        while (!waiting.isEmpty()) { //~ isEmpty -
            Parcel next = waiting.poll(); //~ poll -
            next.via(route); //~ via Parcel.java:Parcel.via
            next.advance(); //~ advance Parcel.java:Parcel.advance
            cents += route.price(next); //~ price Route.java:Route.price
            sent.computeIfAbsent(to, key -> new java.util.ArrayList<>()).add(next); //~ computeIfAbsent -; add -
        }
        return cents;
    }

    public Map<Integer, List<String>> byHops() {
        return sent.values().stream() //~ values -; stream -
            .flatMap(List::stream) //~ flatMap -
            .collect(Collectors.groupingBy( //~ collect -; groupingBy -
                parcel -> parcel.route().map(Route::hops).orElse(0), //~ route Parcel.java:Parcel.route; map -; orElse -
                Collectors.mapping(Parcel::label, Collectors.toList()))); //~ mapping -; toList -
    }

    public void each(BiConsumer<String, Parcel> visit) {
        sent.forEach((to, parcels) -> { //~ forEach -
            for (Parcel parcel : parcels) {
                visit.accept(to, parcel); //~ accept -
                parcel.forEach(item -> item.weight()); //~ forEach -; weight Parcel.java:Parcel.Item.weight
            }
        });
    }

    public String quote(Object thing) {
        if (thing instanceof Parcel parcel && parcel.route().isPresent()) { //~ route Parcel.java:Parcel.route; isPresent -
            return price(parcel.route().get(), parcel); //~ price Desk.java:Desk.price; route Parcel.java:Parcel.route; get -
        }
        return switch (thing) {
            case Weight w -> String.valueOf(w.heavierThan(Weight.ZERO)); //~ valueOf -; heavierThan Weight.java:Weight.heavierThan
            case Route.Direct direct -> direct.tariff().toString(); //~ tariff Route.java:Route.Direct.tariff; toString -
            default -> "";
        };
    }

    private String price(Route route, Parcel parcel) {
        Function<Integer, String> format = cents -> String.format("%d", cents); //~ format -
        positive(route.price(parcel)); //~ positive Check.java:Check.positive; price Route.java:Route.price
        return format.apply(route.price(parcel)); //~ apply -; price Route.java:Route.price
    }

    <T> T timed(Callable<T> work) throws Exception {
        long start = System.nanoTime(); //~ nanoTime -
        try {
            return work.call(); //~ call -
        } finally {
            record(System.nanoTime() - start); //~ record AbstractDesk.java:AbstractDesk.record; nanoTime -
        }
    }

    public static void main(String[] args) throws Exception {
        Desk desk = new Desk(); //~ Desk Desk.java:Desk
        desk.accept("box", args); //~ accept Desk.java:Desk.accept
        int cents = desk.timed(() -> desk.send("Ulm", "Kiel")); //~ timed Desk.java:Desk.timed; send Desk.java:Desk.send
        new Thread(new Runnable() {
            @Override
            public void run() {
                desk.send("Kiel", "Ulm"); //~ send Desk.java:Desk.send
            }
        }).start(); //~ start -
        System.out.println(cents + desk.stats().worst()); //~ println -; stats AbstractDesk.java:AbstractDesk.stats; worst AbstractDesk.java:AbstractDesk.Stats.worst
    }
}
