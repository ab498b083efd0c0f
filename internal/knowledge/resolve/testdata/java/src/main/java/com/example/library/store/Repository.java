package com.example.library.store;

import java.util.Optional;

public interface Repository<T extends Entity> {
    Optional<T> get(String key);

    void save(T entity);

    default void flush() {
    }

    default T require(String key) {
        return get(key).orElseThrow();
    }
}
