/** Exceptions that a callee throws, and a caller or nobody catches. */
public class Thrown {
    static int parse(String text) {
        return Integer.parseInt(text);
    }

    static int safe(String text) {
        try {
            return parse(text);
        } catch (NumberFormatException error) {
            return -1;
        }
    }

    static int total(String... words) {
        int sum = 0;
        for (String one : words) sum += safe(one);
        if (sum > 1000) throw new IllegalStateException("too big"); // @too_big
        return sum;
    }

    public static void main(String[] words) {
        System.out.println(total("1", "x", "4"));
        try {
            System.out.println(total("900", "900"));
        } catch (IllegalStateException error) {
            System.out.println(error.getMessage());
        }
        total("2000");
    }
}
