package com.example.library;

import java.util.ArrayList;
import java.util.List;

public class Report {
    private final String title;
    private final List<String> lines;

    private Report(String title, List<String> lines) {
        this.title = title;
        this.lines = lines;
    }

    public static Builder builder() {
        return new Builder();
    }

    public void print() {
        System.out.println(render());
    }

    String render() {
        StringBuilder out = new StringBuilder();
        out.append(title);
        for (String line : lines) {
            out.append(indent(line));
        }
        return out.toString();
    }

    private static String indent(String line) {
        return "  " + line;
    }

    public static class Builder {
        private String title = "";
        private final List<String> lines = new ArrayList<>();

        public Builder title(String title) {
            this.title = title;
            return this;
        }

        public Builder line(String line) {
            lines.add(indent(line));
            return this;
        }

        public Report build() {
            return new Report(title, lines);
        }
    }
}
