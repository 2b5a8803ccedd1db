import java.io.*;
import java.nio.*;
import java.nio.file.*;

public final class Driver {
    public static void main(String[] arguments) throws IOException {
        int n = Integer.parseInt(arguments[0]), d = Integer.parseInt(arguments[1]);
        byte[] bytes = Files.readAllBytes(Path.of("rows"));
        FloatBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
        float[][] rows = new float[n][d];
        for (float[] row : rows) in.get(row);
        ByteBuffer out = ByteBuffer.allocate(8 * n).order(ByteOrder.LITTLE_ENDIAN);
        for (double score : $name.scores(rows)) out.putDouble(score);
        Files.write(Path.of("scores"), out.array());
    }
}
