package org.acme.shipping.parcel;

import java.util.Map;
import java.util.function.Supplier;

public final class Parcels {
    private static final Map<String, Supplier<Parcel>> KINDS = Map.of("box", Box::new, "tube", () -> new Tube(40)); //~ of -; Tube Parcels.java:Parcels.Tube.Tube@53

    private Parcels() {}

    public static Parcel make(String kind) {
        return KINDS.getOrDefault(kind, Box::new).get(); //~ getOrDefault -; get -
    }

    static class Box extends Parcel {
        @Override
        protected Weight tare() {
            return Weight.kilos(0.2); //~ kilos Weight.java:Weight.kilos
        }

        @Override
        public String label() {
            return "box of " + items.size(); //~ size -
        }
    }

    static class Padded extends Box {
        private int layers = 1;

        @Override
        protected Weight tare() {
            return super.tare().plus(padding()); //~ tare Parcels.java:Parcels.Box.tare; plus Weight.java:Weight.plus; padding Parcels.java:Parcels.Padded.padding
        }

        private Weight padding() {
            return new Weight(layers * 10); //~ Weight Weight.java:Weight.Weight
        }

        @Override
        protected void changed() {
            super.changed(); //~ changed Parcel.java:Parcel.changed
            layers = Math.max(layers, items.size() / 4); //~ max -; size -
        }
    }

    static final class Tube extends Parcel {
        private final int length;

        Tube() {
            this(60); //~ Tube Parcels.java:Parcels.Tube.Tube@53
        }

        Tube(int length) {
            this.length = length;
        }

        @Override
        protected Weight tare() {
            return new Weight(length); //~ Weight Weight.java:Weight.Weight
        }

        @Override
        public String label() {
            return "tube";
        }
    }
}
