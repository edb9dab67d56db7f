// Doubles a number in a JVM of its own.
public class ChildWorker {
    static int written;

    public static void main(String[] args) {
        int result = Integer.parseInt(args[0]) * 2;
        written = result;
        System.out.println("result " + result); // @worker
    }
}
