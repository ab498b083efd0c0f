package com.example.library.store;

public final class Repositories {
    public static <T extends Entity> Repository<T> memory() {
        return new MemoryRepository<>();
    }

    public static <T extends Entity> Repository<T> file(String path) {
        FileRepository<T> repository = new FileRepository<>(path);
        repository.load();
        return repository;
    }
}
