// ---- head
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;

public final class $name {
    private $name() {}

    private static ByteBuffer bytes(String... parts) {
        return ByteBuffer.wrap(Base64.getDecoder().decode(String.join("", parts))).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static int[] ints(ByteBuffer from) {
        int[] to = new int[from.remaining() / 4];
        from.asIntBuffer().get(to);
        return to;
    }

    private static float[] floats(ByteBuffer from) {
        float[] to = new float[from.remaining() / 4];
        from.asFloatBuffer().get(to);
        return to;
    }

    private static double[] doubles(ByteBuffer from) {
        double[] to = new double[from.remaining() / 8];
        from.asDoubleBuffer().get(to);
        return to;
    }

// ---- fill
    private static float[] fill(float[] x) {
        for (int j = 0; j < $n; j++) {
            if (Float.isNaN(x[j])) x[j] = FILL[j];
        }
        return x;
    }

// ---- forest
    private static double forest(float[] x, int first, int last) {
        double total = 0.0;
        for (int t = first; t < last; t++) {
            int n = ROOT[t];
            while (n >= 0) {
                final float v = x[FEATURE[n]];
                n = (Float.isNaN(v) ? MISSING_LEFT[n] != 0 : v <= THRESHOLD[n]) ? LEFT[n] : RIGHT[n];
            }
            total += LEAF[~n];
        }
        return total;
    }

// ---- line
    private static double line(float[] x, int at) {
        double total = 0.0;
        for (int j = 0; j < $n; j++) total += WEIGHT[at + j] * x[j];
        return total + WEIGHT[at + $n];
    }

// ---- network
    private static double erf(double z) {
        if (Math.abs(z) > 6.0) return Math.signum(z);
        double term = z, sum = z;
        for (int k = 1; Math.abs(term) > 1e-17 * Math.abs(sum); k++) {
            term *= 2.0 * z * z / (2 * k + 1);
            sum += term;
        }
        return 2.0 / Math.sqrt(Math.PI) * Math.exp(-z * z) * sum;
    }

    private static double activate(double z, int kind) {
        if (kind == 1) return z > 0.0 ? z : 0.0;
        if (kind == 2) return 0.5 * z * (1.0 + erf(z / Math.sqrt(2.0)));
        if (kind == 3) return z / (1.0 + Math.exp(-z));
        if (kind == 4) return Math.tanh(z);
        if (kind == 5) return 1.0 / (1.0 + Math.exp(-z));
        return z;
    }

    private static double network(float[] x, int at, int first, int last, int log) {
        double[] in = new double[$widest], out = new double[$widest];
        for (int j = 0; j < $n; j++) {
            final double v = log != 0 ? Math.copySign(Math.log1p(Math.abs((double) x[j])), x[j]) : x[j];
            in[j] = (v - WEIGHT[at + j]) * WEIGHT[at + $n + j];
        }
        at += 2 * $n;
        for (int l = first; l < last; l++) {
            final int nIn = PLAN[5 * l], nOut = PLAN[5 * l + 1], norm = PLAN[5 * l + 3], skip = PLAN[5 * l + 4];
            final int bias = at + nIn * nOut;
            double mean = 0.0, variance = 0.0;
            for (int k = 0; k < nOut; k++) {
                out[k] = WEIGHT[bias + k];
                for (int j = 0; j < nIn; j++) out[k] += WEIGHT[at + k * nIn + j] * in[j];
                mean += out[k] / nOut;
            }
            if (norm != 0) {
                for (int k = 0; k < nOut; k++) variance += (out[k] - mean) * (out[k] - mean) / nOut;
                for (int k = 0; k < nOut; k++) {
                    out[k] = (out[k] - mean) / Math.sqrt(variance + 1e-5) * WEIGHT[bias + nOut + k]
                            + WEIGHT[bias + 2 * nOut + k];
                }
            }
            for (int k = 0; k < nOut; k++) in[k] = activate(out[k], PLAN[5 * l + 2]) + (skip != 0 ? in[k] : 0.0);
            at = bias + nOut * (norm != 0 ? 3 : 1);
        }
        return in[0];
    }

// ---- fill_copy
        final float[] y = fill(x.clone());

// ---- foot
    /** The score of one document. */
    public static double score(float[] x) {
        double total = 0.0;
        $sum
        return total;
    }

    /** The score of each document. */
    public static double[] scores(float[][] rows) {
        double[] scores = new double[rows.length];
        for (int i = 0; i < rows.length; i++) scores[i] = score(rows[i]);
        return scores;
    }
}

// ---- lists
    private static double score(float[] x) {
        double total = 0.0;
        $sum
        return total;
    }

    private static void normalise(float[][] rows) {
        for (int j = 0; j < $n; j++) {
            double low = Double.POSITIVE_INFINITY, high = Double.NEGATIVE_INFINITY;
            double total = 0.0, size = 0.0, count = 0.0, spread = 0.0;
            for (float[] row : rows) {
                final double v = row[j];
                if (Double.isNaN(v)) continue;
                low = Math.min(low, v);
                high = Math.max(high, v);
                total += v;
                size += Math.abs(v);
                count += 1.0;
            }
            final double mean = total / Math.max(count, 1.0);
            for (float[] row : rows) {
                final double d = row[j] - mean;
                if (!Double.isNaN(d)) spread += d * d;
            }
            double shift = 0.0, divisor = Double.POSITIVE_INFINITY;
            if ($method == 0) shift = low;
            if ($method == 1) shift = mean;
            if ($method == 0 && high > low) divisor = high - low;
            if ($method == 1 && high > low) divisor = Math.sqrt(spread / (count - 1.0));
            if ($method == 2 && size > 0.0) divisor = size;
            for (float[] row : rows) row[j] = (float) ((row[j] - shift) / divisor);
        }
    }

    /** The score of each document of one query. */
    public static double[] scores(float[][] rows) {
        float[][] copy = new float[rows.length][];
        for (int i = 0; i < rows.length; i++) copy[i] = rows[i].clone();
$before        normalise(copy);
        double[] scores = new double[rows.length];
        for (int i = 0; i < rows.length; i++) scores[i] = score(copy[i]);
        return scores;
    }
}

// ---- fill_rows
        for (float[] row : copy) fill(row);

