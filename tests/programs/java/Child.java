import java.util.List;

// Starts another JVM, and reports how it ended.
public class Child {
    public static void main(String[] args) throws Exception {
        String java = args.length > 0 ? args[0] : "java";
        List<String> words = List.of(java, "-cp", System.getProperty("java.class.path"),
                "ChildWorker", "7");
        Process child = new ProcessBuilder(words).inheritIO().start();
        System.out.println("child ended with " + child.waitFor());
    }
}
