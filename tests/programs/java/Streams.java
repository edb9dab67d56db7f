import java.io.BufferedReader;
import java.io.InputStreamReader;

// Writes to both streams, echoes its input in upper case, or dies of a signal, as its argument says.
public class Streams {
    static void echo() throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        int count = 0;
        System.out.println("ready");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            count++;
            System.out.println(line.toUpperCase()); // @read
        }
        System.out.println(count + " lines"); // @eof
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("echo")) {
            echo();
        } else if (args[0].equals("both")) {
            for (int line = 1; line <= 2; line++) {
                System.out.println("stdout line " + line);
                System.err.println("stderr line " + line);
            }
        } else {
            long own = ProcessHandle.current().pid();
            new ProcessBuilder("kill", "-KILL", String.valueOf(own)).start().waitFor();
            Thread.sleep(60_000);
        }
    }
}
