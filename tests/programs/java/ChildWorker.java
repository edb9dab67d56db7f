// Doubles a number in a JVM of its own.
public class ChildWorker {
    public static void main(String[] args) {
        int result = Integer.parseInt(args[0]) * 2;
        System.out.println("result " + result); // @worker
    }
}
