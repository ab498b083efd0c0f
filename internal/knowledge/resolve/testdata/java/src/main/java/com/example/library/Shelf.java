package com.example.library;

import com.example.library.model.Book;
import java.util.TreeSet;

class Shelf {
    private final String topic;
    private final TreeSet<Book> books = new TreeSet<>();
    private Book last;

    Shelf(String topic) {
        this.topic = topic;
    }

    Shelf put(Book book) {
        books.add(book);
        last = book;
        label(book);
        return this;
    }

    void remove(Book book) {
        books.remove(book);
    }

    void tidy() {
        for (Book book : books) {
            label(book);
        }
        if (last != null) last.topic();
    }

    private void label(Book book) {
        book.label(topic);
        label(book.title());
    }

    private void label(String text) {
        text.trim();
    }
}
