package com.example.library.store;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

class MemoryRepository<T extends Entity> implements Repository<T> {
    protected final Map<String, T> rows = new HashMap<>();

    @Override
    public Optional<T> get(String key) {
        return Optional.ofNullable(rows.get(key));
    }

    @Override
    public void save(T entity) {
        entity.touch();
        rows.put(entity.key(), entity);
        saved(entity);
    }

    protected void saved(T entity) {
    }
}
