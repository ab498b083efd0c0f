package com.example.library.model;

import com.example.library.store.Entity;
import java.time.LocalDate;

public class Member extends Entity {
    private LocalDate until;
    private double debt;
    private Level level = Level.BASIC;

    public Member(String id) {
        super(id);
    }

    public void check(LocalDate day) {
        if (day.isAfter(until) || !level.allows(debt)) {
            throw new IllegalStateException(describe());
        }
    }

    public void charge(double fee) {
        debt += level.discounted(fee);
        touch();
    }

    enum Level {
        BASIC, GOLD {
            @Override
            double discounted(double fee) {
                return Fees.round(fee / 2);
            }
        };

        double discounted(double fee) {
            return fee;
        }

        boolean allows(double debt) {
            return debt < limit();
        }

        private double limit() {
            return 10;
        }
    }
}
