package com.example.library.model;

import com.example.library.store.Entity;

public class Book extends Entity implements Comparable<Book> {
    private final String title;
    private String topic = "general";
    private Author author;

    public Book(String isbn, String title) {
        super(isbn);
        this.title = title;
    }

    public Book(String isbn) {
        this(isbn, "untitled");
    }

    public String title() {
        return title;
    }

    public String topic() {
        touch();
        return topic.toLowerCase();
    }

    public void label(String topic) {
        this.topic = topic;
        super.touch();
    }

    @Override
    public int compareTo(Book other) {
        return key().compareTo(other.key());
    }

    public String citation() {
        return author.shortName() + ", " + title();
    }

    public static Book parse(String line) {
        String[] parts = line.split(";");
        Book book = new Book(parts[0], parts[1]);
        book.author = Author.of(parts[2]);
        book.author.add(book);
        return book;
    }

    record Author(String name) {
        static Author of(String name) {
            return new Author(name.trim());
        }

        String shortName() {
            return initials() + name.substring(1);
        }

        private String initials() {
            return name.substring(0, 1);
        }

        void add(Book book) {
            book.touch();
        }
    }
}
