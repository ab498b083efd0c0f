package org.acme.util;

import java.util.function.Function;
import java.util.function.Supplier;

public class Lazy<T> implements Supplier<T> {
    private final Supplier<? extends T> source;
    private T value;
    private boolean done;

    private Lazy(Supplier<? extends T> source) {
        this.source = source;
    }

    public static <T> Lazy<T> of(Supplier<? extends T> source) {
        return new Lazy<>(source); //~ Lazy Lazy.java:Lazy.Lazy
    }

    @Override
    public synchronized T get() {
        if (!done) {
            value = source.get(); //~ get -
            done = true;
        }
        return value;
    }

    public <R> Lazy<R> map(Function<? super T, ? extends R> f) {
        return Lazy.of(() -> f.apply(get())); //~ of Lazy.java:Lazy.of; apply -; get Lazy.java:Lazy.get
    }
}
