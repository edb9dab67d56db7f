import java.util.ArrayDeque;
import java.util.Deque;

// Reserves and releases seats. A cancelled order is released twice: once by its owner and once by
// the sweep of old orders, so more seats are free in the end than there are.
public class Stock {
    enum State { OPEN, PAID, CANCELLED }

    static class Order {
        final int seats;
        State state = State.OPEN;

        Order(int seats) {
            this.seats = seats;
        }
    }

    static class Hall {
        final int size;
        int free;

        Hall(int size) {
            this.size = size;
            free = size;
        }

        void reserve(Order order) {
            free -= order.seats;
        }

        void cancel(Order order) {
            order.state = State.CANCELLED;
            free += order.seats; // @cancel
        }

        void sweep(Deque<Order> orders) {
            for (Order order : orders) {
                if (order.state != State.PAID) {
                    free += order.seats; // @sweep
                }
            }
        }
    }

    public static void main(String[] args) {
        Hall hall = new Hall(100);
        Deque<Order> orders = new ArrayDeque<>();
        for (int seats : new int[] {4, 2, 7}) {
            Order order = new Order(seats);
            orders.add(order);
            hall.reserve(order);
        }
        orders.peekFirst().state = State.PAID;
        hall.cancel(orders.peekLast());
        hall.sweep(orders);
        System.out.println(hall.free + " of " + hall.size); // @end
    }
}
