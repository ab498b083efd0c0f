package org.acme.app;

import java.util.Objects;

import org.acme.shipping.parcel.Weight;

abstract class AbstractDesk<T> {
    private final Stats stats = new Stats(); //~ Stats AbstractDesk.java:AbstractDesk.Stats
    private T last;

    protected AbstractDesk() {
        stats.reset(); //~ reset AbstractDesk.java:AbstractDesk.Stats.reset
    }

    protected abstract boolean accepts(T thing);

    protected Weight limit() {
        return org.acme.shipping.parcel.Weight.kilos(31.5); //~ kilos Weight.java:Weight.kilos
    }

    protected final T handled(T thing) {
        if (!Objects.equals(last, thing)) { //~ equals -
            stats.count++;
        }
        return last = thing;
    }

    protected void record(long nanos) {
        stats().add(nanos); //~ stats AbstractDesk.java:AbstractDesk.stats; add AbstractDesk.java:AbstractDesk.Stats.add
    }

    public Stats stats() {
        return stats;
    }

    static class Stats {
        private int count;
        private long worst;

        void add(long nanos) {
            worst = Math.max(worst(), nanos); //~ max -; worst AbstractDesk.java:AbstractDesk.Stats.worst
        }

        long worst() {
            return worst;
        }

        void reset() {
            count = 0;
            worst = 0;
        }
    }
}
