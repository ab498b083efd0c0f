package org.acme.shipping.route;

import java.util.Arrays;
import java.util.Comparator;

enum Hub {
    NORTH("Kiel", 54),
    SOUTH("Ulm", 48);

    private final String city;
    private final int latitude;

    Hub(String city, int latitude) {
        this.city = city;
        this.latitude = latitude;
    }

    static Hub nearest(String city) {
        int at = Atlas.latitude(city); //~ latitude Atlas.java:Atlas.latitude
        return Arrays.stream(values()) //~ stream -; values -
            .min(Comparator.comparingInt(hub -> hub.distance(at))) //~ min -; comparingInt -; distance Hub.java:Hub.distance
            .orElse(NORTH); //~ orElse -
    }

    private int distance(int latitude) {
        return Math.abs(this.latitude - latitude); //~ abs -
    }

    String city() {
        return city;
    }

    Route onward(String to) {
        return new Route.Direct(to); //~ Direct Route.java:Route.Direct
    }
}
