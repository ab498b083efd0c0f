package com.example.library.model;

public final class Fees {
    public static final int FREE_DAYS = 30;

    public static double lateFee(long days) {
        return days <= FREE_DAYS ? 0 : round(perDay() * (days - FREE_DAYS));
    }

    public static double round(double fee) {
        return Math.round(fee * 100) / 100.0;
    }

    private static double perDay() {
        return 0.2;
    }
}
