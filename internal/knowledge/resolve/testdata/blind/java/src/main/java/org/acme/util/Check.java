package org.acme.util;

import java.util.Collection;
import java.util.function.Supplier;

public final class Check {
    private Check() {}

    public static <T> T notNull(T value, String name) {
        return notNull(value, () -> name + " is null"); //~ notNull Check.java:Check.notNull@15
    }

    /** Evaluates the text only where it is needed. */
    // The supplier may be costly.
    @SuppressWarnings("unused")
    public static <T> T notNull(T value, Supplier<String> text) {
        if (value == null) {
            throw fail(text.get()); //~ fail Check.java:Check.fail; get -
        }
        return value;
    }

    public static void positive(int n) {
        positive(n, "value"); //~ positive Check.java:Check.positive@27
    }

    public static void positive(int n, String name) {
        if (n <= 0) throw fail(name + " is " + n); //~ fail Check.java:Check.fail
    }

    static IllegalArgumentException fail(String text) {
        return new IllegalArgumentException(text);
    }

    public static boolean some(Collection<?>... all) {
        for (Collection<?> one : all) if (!one.isEmpty()) return true; //~ isEmpty -
        return false;
    }
}
