package com.example.library.model;

import java.time.Clock;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;

public record Loan(Book book, Member member, LocalDate since) {
    public Loan {
        book.touch();
    }

    public long days(LocalDate today) {
        return ChronoUnit.DAYS.between(since, today);
    }

    public boolean late() {
        return days(LocalDate.now()) > Fees.FREE_DAYS;
    }

    public void remind() {
        if (late()) {
            member.touch();
        }
    }

    public String describe() {
        return book.citation() + " by " + member.describe();
    }

    public Loan stamped(Clock clock) {
        return new Loan(book, member, LocalDate.now(clock));
    }
}
