package com.example.library;

import static org.junit.Assert.assertEquals;

import com.example.library.model.Book;
import java.time.Clock;
import org.junit.Before;
import org.junit.Test;

public class LibraryTest {
    private Library library;

    @Before
    public void setUp() {
        library = new Library(Clock.systemUTC());
    }

    @Test
    public void lends() {
        Book book = sample();
        assertEquals("general", book.topic());
        library.lend(book.key(), "m").remind();
        library.report().print();
    }

    private Book sample() {
        return Book.parse("1;Title;Author");
    }
}
