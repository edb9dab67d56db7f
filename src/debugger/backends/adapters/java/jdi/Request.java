package debugger.jdi;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A request of the client's, with typed access to its arguments. */
record Request(long sequence, String command, Map<String, Object> arguments) {
    String text(String name) {
        return arguments.get(name) instanceof String text ? text : null;
    }

    int number(String name, int otherwise) {
        return arguments.get(name) instanceof Number number ? number.intValue() : otherwise;
    }

    boolean isTrue(String name) {
        return Boolean.TRUE.equals(arguments.get(name));
    }

    List<String> words(String name) {
        List<String> result = new ArrayList<>();
        if (arguments.get(name) instanceof List<?> items) {
            items.forEach(item -> result.add(String.valueOf(item)));
        }
        return result;
    }

    List<Map<String, Object>> maps(String name) {
        List<Map<String, Object>> result = new ArrayList<>();
        if (arguments.get(name) instanceof List<?> items) {
            items.forEach(item -> result.add(Client.asMap(item)));
        }
        return result;
    }
}
