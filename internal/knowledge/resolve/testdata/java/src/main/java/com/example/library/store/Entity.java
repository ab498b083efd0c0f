package com.example.library.store;

public abstract class Entity {
    private final String id;
    private int version;

    protected Entity(String id) {
        this.id = id;
    }

    public String key() {
        return id;
    }

    public void touch() {
        version++;
        changed();
    }

    protected void changed() {
    }

    public String describe() {
        return getClass().getSimpleName() + " " + key();
    }
}
