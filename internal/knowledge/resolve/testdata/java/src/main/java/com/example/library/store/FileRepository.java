package com.example.library.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

class FileRepository<T extends Entity> extends MemoryRepository<T> {
    private final Path path;
    private final Journal journal;

    FileRepository(String path) {
        this.path = Path.of(path);
        this.journal = new Journal(this.path);
    }

    void load() {
        for (String line : journal.lines()) {
            decode(line);
        }
    }

    private void decode(String line) {
        journal.skip(line);
    }

    @Override
    protected void saved(T entity) {
        super.saved(entity);
        journal.append(entity.describe());
    }

    @Override
    public void flush() {
        journal.sync();
        rows.values().forEach(row -> row.touch());
    }

    private static class Journal {
        private final Path path;

        Journal(Path path) {
            this.path = path;
        }

        Iterable<String> lines() {
            try {
                return Files.readAllLines(path);
            } catch (IOException e) {
                throw wrap(e);
            }
        }

        void append(String line) {
            skip(line);
            sync();
        }

        void skip(String line) {
        }

        void sync() {
        }

        private RuntimeException wrap(IOException e) {
            return new IllegalStateException(e.getMessage());
        }
    }
}
