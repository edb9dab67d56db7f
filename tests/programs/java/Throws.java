import java.util.List;

// Throws an exception that it catches; with an argument, one that nobody catches.
public class Throws {
    static class OrderError extends RuntimeException {
        OrderError(String message, Throwable cause) {
            super(message, cause);
        }
    }

    record Order(int id, List<String> items) {}

    static int check(Order order) {
        if (order.items().isEmpty()) {
            throw new OrderError("order " + order.id() + " has no items", null); // @throw
        }
        return order.items().size();
    }

    static int price(Order order, String[] prices) {
        try {
            return Integer.parseInt(prices[order.id()]); // @parse
        } catch (NumberFormatException wrong) {
            throw new OrderError("no price of order " + order.id(), wrong); // @wrapped
        }
    }

    static void throwAgain(Order order) {
        OrderError kept = null;
        try {
            check(order);
        } catch (OrderError error) {
            kept = error;
        }
        throw kept; // @again
    }

    public static void main(String[] args) {
        try {
            check(new Order(3, List.of()));
        } catch (OrderError error) {
            System.out.println("caught " + error.getMessage()); // @caught
        }
        if (args.length > 0) {
            System.out.println(price(new Order(1, List.of("pen")), new String[] {"5", args[0]}));
        }
        if (args.length > 1) {
            throwAgain(new Order(4, List.of()));
        }
    }
}
