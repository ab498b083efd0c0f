package com.example.library;

import com.example.library.model.Book;
import com.example.library.model.Loan;
import com.example.library.model.Member;
import com.example.library.store.Repository;
import com.example.library.store.Repositories;
import java.time.Clock;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static com.example.library.Checks.notEmpty;
import static com.example.library.model.Fees.*;

/** Lends books. */
public class Library implements AutoCloseable {
    private final Repository<Book> books;
    private final Repository<Member> members = Repositories.memory();
    private final List<Loan> loans = new ArrayList<>();
    private final Clock clock;
    private Map<String, Shelf> shelves;
    private Listener listener = new Silent();

    public Library(Repository<Book> books, Clock clock) {
        this.books = books;
        this.clock = clock;
        reset();
    }

    public Library(Clock clock) {
        this(Repositories.memory(), clock);
    }

    private void reset() {
        loans.clear();
        shelves.values().forEach(shelf -> shelf.tidy());
    }

    public Loan lend(String isbn, String memberId) {
        Book book = find(notEmpty(isbn));
        Member member = members.get(memberId).orElseThrow();
        member.check(today());
        Loan loan = new Loan(book, member, today());
        loans.add(loan);
        shelf(book).remove(book);
        listener.lent(loan);
        return loan.stamped(clock);
    }

    public Book find(String isbn) {
        Optional<Book> found = books.get(isbn);
        return found.orElseThrow(() -> new NotThere(isbn));
    }

    public double giveBack(Loan loan) {
        Checks.notNull(loan);
        loans.remove(loan);
        Shelf shelf = shelf(loan.book());
        shelf.put(loan.book()).tidy();
        double fee = lateFee(loan.days(today()));
        if (fee > 0) {
            loan.member().charge(round(fee));
        }
        for (Loan open : loans) {
            open.remind();
        }
        return fee;
    }

    private Shelf shelf(Book book) {
        return shelves.computeIfAbsent(book.topic(), Shelf::new);
    }

    private LocalDate today() {
        return LocalDate.now(clock);
    }

    public Report report() {
        Report.Builder builder = Report.builder().title("Library");
        loans.stream().filter(l -> l.late()).forEach(l -> builder.line(l.describe()));
        return builder.build();
    }

    public static Library open(String path) {
        Library library = new Library(Repositories.file(path), Clock.systemUTC());
        library.listener = new Listener() {
            @Override
            public void lent(Loan loan) {
                log(loan.describe());
            }

            private void log(String text) {
                System.out.println(text);
            }
        };
        return library;
    }

    @Override
    public void close() {
        books.flush();
        listener.closed(this);
    }

    interface Listener {
        void lent(Loan loan);

        default void closed(Library library) {
            library.report().print();
        }
    }

    static class Silent implements Listener {
        @Override
        public void lent(Loan loan) {
            count(1);
        }

        void count(int n) {
        }
    }

    static class NotThere extends RuntimeException {
        NotThere(String isbn) {
            super("no book " + isbn);
        }
    }
}
