import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** Literals that the bytecode knows as numbers; the argument chooses which. */
public class Keys {
    static int ofFlag(Map<Boolean, Integer> counts) {
        return counts.get(true);  // @flag
    }

    static int ofLetter(Map<Character, Integer> counts) {
        return counts.get('x');  // @letter
    }

    public static void main(String[] words) {
        Map<Boolean, Integer> flags = new HashMap<>();
        flags.put(true, null);  // @put
        Map<Character, Integer> letters = new TreeMap<>();
        letters.put('y', 2);
        System.out.println(words[0].equals("flag") ? ofFlag(flags) : ofLetter(letters));
    }
}
