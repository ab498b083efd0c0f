package org.acme.shipping.route;

import org.acme.shipping.parcel.Weight;

public class Tariff {
    private static Tariff standard;

    private final Builder made;

    protected Tariff(Builder made) {
        this.made = made;
    }

    public static synchronized Tariff standard() {
        if (standard == null) {
            standard = builder().base(250).perKilo(90).build(); //~ builder Tariff.java:Tariff.builder; base Tariff.java:Tariff.Builder.base; perKilo Tariff.java:Tariff.Builder.perKilo; build Tariff.java:Tariff.Builder.build
        }
        return standard;
    }

    public static Builder builder() {
        return new Builder(); //~ Builder Tariff.java:Tariff.Builder
    }

    public int cents(Weight weight) {
        return made.base + weight.grams() * made.perKilo / 1000; //~ grams -
    }

    public Tariff scaled(int percent) {
        Builder copy = made.copy(); //~ copy Tariff.java:Tariff.Builder.copy
        return copy.base(copy.base * percent / 100).build(); //~ base Tariff.java:Tariff.Builder.base; build Tariff.java:Tariff.Builder.build
    }

    public static class Builder implements Cloneable {
        private int base;
        private int perKilo;

        public Builder base(int cents) {
            base = cents;
            return this;
        }

        public Builder perKilo(int cents) {
            this.perKilo = cents;
            return this;
        }

        Builder copy() {
            return new Builder().base(base).perKilo(perKilo); //~ Builder Tariff.java:Tariff.Builder; base Tariff.java:Tariff.Builder.base; perKilo Tariff.java:Tariff.Builder.perKilo
        }

        public Tariff build() {
            return new Tariff(copy()); //~ Tariff Tariff.java:Tariff.Tariff; copy Tariff.java:Tariff.Builder.copy
        }
    }
}
