// Sums squares in a loop and ends with status 3.
public class Loop {
    static int calculate(int i) {
        System.out.println("step " + i); // @step
        return i * i; // @return
    }

    static int sumTo(int n) {
        int sum = 0; // @start
        for (int i = 1; i <= n; i++) {
            sum += calculate(i); // @add
        }
        return sum; // @done
    }

    public static void main(String[] args) {
        int n = args.length > 0 ? Integer.parseInt(args[0]) : 5;
        int scale = 1; // @main
        int sum = sumTo(n); // @call
        System.out.println("sum " + sum * scale); // @print
        System.exit(3); // @exit
    }
}
