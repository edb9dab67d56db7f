// Returns from within switches, a lambda and a method in one line.
import java.util.function.IntUnaryOperator;

public class Returns {
    static int dense(int n) {
        switch (n) { // @dense
            case 1:
                n += 10;
                break;
            case 2:
                return n * 100; // @from_switch
            default:
                n = -n;
        }
        return n; // @after_switch
    }

    static String sparse(int n) {
        switch (n) { case 1000: n++; break; case 2000: return "two"; default: n--; } // @sparse
        return "other"; // @other
    }

    static long one(long x) { return x + 1; } // @one

    public static void main(String[] args) {
        IntUnaryOperator twice = x -> x * 2; // @lambda
        long sum = dense(2) + dense(1) + twice.applyAsInt(4); // @called
        String text = sparse(1000) + sparse(2000);
        System.out.println(sum + text + one(3)); // @end
    }
}
