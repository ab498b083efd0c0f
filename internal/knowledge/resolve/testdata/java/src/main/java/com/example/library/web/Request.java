package com.example.library.web;

import java.util.Map;

public class Request {
    private final Map<String, String> params;

    public Request(Map<String, String> params) {
        this.params = params;
    }

    public String param(String name) {
        return decoded(params.get(name));
    }

    public Object session(String name) {
        return null;
    }

    private String decoded(String text) {
        return text.strip();
    }
}
