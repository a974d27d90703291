import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;

/** Runs the verifier of the documentation with the deliveries that come as lines; says for each whether it was accepted. */
public final class Run {
    private static byte[] bytes(String digits) {
        return HexFormat.of().parseHex(digits);
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] fields = line.split(" ", -1);
            Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
            for (int field = 3; field < fields.length; field += 1) {
                String[] header = fields[field].split(":", -1);
                headers.put(header[0], new String(bytes(header[1]), UTF_8));
            }
            String secret = new String(bytes(fields[0]), UTF_8);
            Instant now = Instant.ofEpochSecond(Long.parseLong(fields[1]));
            try {
                String id = Webhook.verify(bytes(fields[2]), headers::get, secret, now).get("id").textValue();
                System.out.println("accepted " + id);
            } catch (GeneralSecurityException | IOException refusal) {
                System.out.println("refused");
            }
        }
    }
}
