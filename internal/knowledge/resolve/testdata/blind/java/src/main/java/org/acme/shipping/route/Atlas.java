package org.acme.shipping.route;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.util.HashMap;
import java.util.Map;

final class Atlas implements AutoCloseable {
    private static final Map<String, Integer> CITIES = load("Kiel 54\nUlm 48"); //~ load Atlas.java:Atlas.load

    private final BufferedReader in;

    private Atlas(BufferedReader in) {
        this.in = in;
    }

    private static Map<String, Integer> load(String text) {
        Map<String, Integer> cities = new HashMap<>();
        try (Atlas atlas = new Atlas(new BufferedReader(new StringReader(text)))) { //~ Atlas Atlas.java:Atlas.Atlas
            for (String line = atlas.line(); line != null; line = atlas.line()) { //~ line Atlas.java:Atlas.line; line#2 Atlas.java:Atlas.line
                String[] parts = line.split(" "); //~ split -
                cities.put(parts[0], Integer.valueOf(parts[1])); //~ put -; valueOf -
            }
        } catch (IOException e) {
            throw new BadAtlas(e); //~ BadAtlas Atlas.java:Atlas.BadAtlas.BadAtlas
        }
        return cities;
    }

    static int latitude(String city) {
        return CITIES.getOrDefault(city, 50); //~ getOrDefault -
    }

    private String line() throws IOException {
        return in.readLine(); //~ readLine -
    }

    @Override
    public void close() throws IOException {
        in.close(); //~ close -
    }

    static class BadAtlas extends RuntimeException {
        BadAtlas(Throwable cause) {
            super("atlas", cause);
        }
    }
}
