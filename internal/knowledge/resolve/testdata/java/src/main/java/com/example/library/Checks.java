package com.example.library;

final class Checks {
    private Checks() {
    }

    static String notEmpty(String text) {
        notNull(text);
        if (text.isEmpty()) {
            throw fail("empty");
        }
        return text;
    }

    static void notNull(Object value) {
        if (value == null) {
            throw fail("null");
        }
    }

    private static IllegalArgumentException fail(String reason) {
        return new IllegalArgumentException(reason);
    }
}
