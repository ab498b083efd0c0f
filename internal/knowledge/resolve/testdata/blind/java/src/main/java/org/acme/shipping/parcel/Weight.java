package org.acme.shipping.parcel;

import static org.acme.util.Check.positive;

public record Weight(int grams) implements Comparable<Weight> {
    public static final Weight ZERO = new Weight(0); //~ Weight Weight.java:Weight.Weight

    public Weight {
        if (grams != 0) positive(grams, "grams"); //~ positive Check.java:Check.positive@27
    }

    public static Weight kilos(double kilos) {
        return new Weight((int) Math.round(kilos * 1000)); //~ Weight Weight.java:Weight.Weight; round -
    }

    public Weight plus(Weight other) {
        return new Weight(grams + other.grams); //~ Weight Weight.java:Weight.Weight
    }

    public boolean heavierThan(Weight other) {
        return compareTo(other) > 0; //~ compareTo Weight.java:Weight.compareTo
    }

    @Override
    public int compareTo(Weight other) {
        return Integer.compare(grams, other.grams); //~ compare -
    }
}
