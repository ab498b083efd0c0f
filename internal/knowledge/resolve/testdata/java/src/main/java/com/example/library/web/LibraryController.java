package com.example.library.web;

import com.example.library.Library;
import com.example.library.Report;
import com.example.library.model.*;

public class LibraryController {
    private final Library library;

    public LibraryController(Library library) {
        this.library = library;
    }

    public String lend(Request request) {
        var loan = library.lend(request.param("isbn"), request.param("member"));
        return loan.describe();
    }

    public String show(Request request) {
        Book book = library.find(request.param("isbn"));
        return page(book.citation());
    }

    public String back(Request request) {
        Loan loan = (Loan) request.session("loan");
        double fee = library.giveBack(loan);
        return fee > 0 ? page("fee " + Fees.round(fee)) : page(loan.book().title());
    }

    public void report() {
        Report report = library.report();
        report.print();
        new Timer().measure(() -> library.report());
    }

    private String page(String body) {
        return Html.wrap(body);
    }

    private static class Html {
        static String wrap(String body) {
            return "<p>" + escape(body) + "</p>";
        }

        private static String escape(String body) {
            return body.replace("<", "&lt;");
        }
    }
}
