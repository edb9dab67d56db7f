/** Arrays of bytes and characters. */
public class ByteTexts {
    public static void main(String[] words) {
        byte[] request = "GET /index.html".getBytes();
        char[] word = {'h', 'e', 'l', 'l', 'o'};
        byte[] few = {1, 2, -1, 65, 66};
        System.out.println(request.length + word.length + few.length); // @end
    }
}
