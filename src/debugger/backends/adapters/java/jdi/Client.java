package debugger.jdi;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** The client of the Debug Adapter Protocol, on the standard streams. */
final class Client {
    private static final int MESSAGE_MAX = 64 << 20;

    private final InputStream in;
    private final OutputStream out;
    private final Map<Long, CompletableFuture<Map<String, Object>>> asked = new ConcurrentHashMap<>();
    private long sequence;

    Client(InputStream in, OutputStream out) {
        this.in = new BufferedInputStream(in);
        this.out = out;
    }

    /** Reads the next request; responses to our own requests are handed to who waits for them. */
    Request readRequest() throws IOException {
        while (true) {
            int length = readHeader();
            byte[] body = in.readNBytes(length);
            if (body.length < length) {
                throw new EOFException();
            }
            Map<String, Object> message =
                    asMap(Json.parse(new String(body, StandardCharsets.UTF_8)));
            if ("request".equals(message.get("type"))) {
                return new Request(
                        (Long) message.get("seq"),
                        String.valueOf(message.get("command")),
                        asMap(message.get("arguments")));
            }
            if ("response".equals(message.get("type"))) {
                var waiting = asked.remove((Long) message.get("request_seq"));
                if (waiting != null) {
                    waiting.complete(message);
                }
            }
        }
    }

    private int readHeader() throws IOException {
        int length = -1;
        for (String line = readLine(); !line.isEmpty(); line = readLine()) {
            String[] parts = line.split(":", 2);
            if (parts.length == 2 && parts[0].equalsIgnoreCase("Content-Length")) {
                length = Integer.parseInt(parts[1].trim());
            }
        }
        if (length < 0 || length > MESSAGE_MAX) {
            throw new IOException("a message without a usable Content-Length");
        }
        return length;
    }

    private String readLine() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int letter = in.read(); letter != '\n'; letter = in.read()) {
            if (letter < 0) {
                throw new EOFException();
            }
            if (letter != '\r') {
                line.append((char) letter);
            }
        }
        return line.toString();
    }

    /** Sends a request to the client; the future is completed with the whole response. */
    CompletableFuture<Map<String, Object>> sendRequest(String command, Map<String, Object> arguments)
            throws IOException {
        var future = new CompletableFuture<Map<String, Object>>();
        synchronized (this) {
            asked.put(sequence + 1, future);
            send(fields("type", "request", "command", command, "arguments", arguments));
        }
        return future;
    }

    void sendEvent(String name, Map<String, Object> body) {
        try {
            send(fields("type", "event", "event", name, "body", body));
        } catch (IOException gone) {
            // Whoever reads requests sees the end of the connection, and ends the adapter.
        }
    }

    /** Sends a line of output of the adapter's own, or of a logpoint. */
    void sendOutput(String category, String text) {
        sendEvent("output", fields("category", category, "output", text));
    }

    void sendResponse(Request request, Map<String, Object> body) throws IOException {
        send(fields("type", "response", "request_seq", request.sequence(), "success", true,
                "command", request.command(), "body", body));
    }

    void sendFailure(Request request, String message) throws IOException {
        send(fields("type", "response", "request_seq", request.sequence(), "success", false,
                "command", request.command(), "message", message));
    }

    private synchronized void send(Map<String, Object> message) throws IOException {
        message.put("seq", ++sequence);
        byte[] body = Json.format(message).getBytes(StandardCharsets.UTF_8);
        byte[] header = ("Content-Length: " + body.length + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        byte[] whole = new byte[header.length + body.length];
        System.arraycopy(header, 0, whole, 0, header.length);
        System.arraycopy(body, 0, whole, header.length, body.length);
        // One write: a message in two parts may wake its reader twice.
        out.write(whole);
        out.flush();
    }

    /** Makes a map of names and values; those that are null are left out. */
    static Map<String, Object> fields(Object... namesAndValues) {
        Map<String, Object> result = new LinkedHashMap<>();
        for (int index = 0; index < namesAndValues.length; index += 2) {
            if (namesAndValues[index + 1] != null) {
                result.put((String) namesAndValues[index], namesAndValues[index + 1]);
            }
        }
        return result;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> asMap(Object value) {
        return value instanceof Map ? (Map<String, Object>) value : new LinkedHashMap<>();
    }
}
