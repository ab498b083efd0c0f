package com.example.library.web;

class Timer {
    private long total;

    void measure(Runnable work) {
        long begin = now();
        work.run();
        total += now() - begin;
    }

    private long now() {
        return System.nanoTime();
    }
}
