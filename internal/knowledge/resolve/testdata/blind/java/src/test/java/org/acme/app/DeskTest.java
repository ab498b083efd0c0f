package org.acme.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.acme.shipping.parcel.Parcel;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DeskTest {
    private Desk desk;

    @BeforeEach
    void setUp() {
        desk = new Desk() { //~ Desk Desk.java:Desk
            @Override
            protected boolean accepts(Parcel parcel) {
                return super.accepts(parcel) && parcel.route().isEmpty(); //~ accepts Desk.java:Desk.accepts; route Parcel.java:Parcel.route; isEmpty -
            }
        };
    }

    @Test
    void refusesWhatIsRouted() {
        assertEquals(0, desk.send("a", "b")); //~ assertEquals -; send Desk.java:Desk.send
        assertEquals("", desk.quote(this)); //~ assertEquals -; quote Desk.java:Desk.quote
        check(desk.accept("tube")); //~ check DeskTest.java:DeskTest.check; accept Desk.java:Desk.accept
    }

    private void check(Parcel parcel) {
        for (Parcel.Item item : parcel) {
            item.remove(); //~ remove Parcel.java:Parcel.Item.remove
        }
    }
}
