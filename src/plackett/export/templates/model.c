// ---- head
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- fill
static void fill(float *x) {
    for (int j = 0; j < $n; j++) {
        if (x[j] != x[j]) x[j] = FILL[j];
    }
}

// ---- forest
static double forest(const float *x, int first, int last) {
    double total = 0.0;
    for (int t = first; t < last; t++) {
        int n = ROOT[t];
        while (n >= 0) {
            const float v = x[FEATURE[n]];
            n = (v != v ? MISSING_LEFT[n] : v <= THRESHOLD[n]) ? LEFT[n] : RIGHT[n];
        }
        total += LEAF[~n];
    }
    return total;
}

// ---- line
static double line(const float *x, int at) {
    double total = 0.0;
    for (int j = 0; j < $n; j++) total += WEIGHT[at + j] * x[j];
    return total + WEIGHT[at + $n];
}

// ---- network
static double activate(double z, int kind) {
    if (kind == 1) return z > 0.0 ? z : 0.0;
    if (kind == 2) return 0.5 * z * (1.0 + erf(z / sqrt(2.0)));
    if (kind == 3) return z / (1.0 + exp(-z));
    if (kind == 4) return tanh(z);
    if (kind == 5) return 1.0 / (1.0 + exp(-z));
    return z;
}

static double network(const float *x, int at, int first, int last, int log) {
    double in[$widest], out[$widest];
    for (int j = 0; j < $n; j++) {
        const double v = log ? copysign(log1p(fabs((double)x[j])), x[j]) : x[j];
        in[j] = (v - WEIGHT[at + j]) * WEIGHT[at + $n + j];
    }
    at += 2 * $n;
    for (int l = first; l < last; l++) {
        const int n_in = PLAN[5 * l], n_out = PLAN[5 * l + 1], norm = PLAN[5 * l + 3], skip = PLAN[5 * l + 4];
        const int bias = at + n_in * n_out;
        double mean = 0.0, variance = 0.0;
        for (int k = 0; k < n_out; k++) {
            out[k] = WEIGHT[bias + k];
            for (int j = 0; j < n_in; j++) out[k] += WEIGHT[at + k * n_in + j] * in[j];
            mean += out[k] / n_out;
        }
        if (norm) {
            for (int k = 0; k < n_out; k++) variance += (out[k] - mean) * (out[k] - mean) / n_out;
            for (int k = 0; k < n_out; k++) {
                out[k] = (out[k] - mean) / sqrt(variance + 1e-5) * WEIGHT[bias + n_out + k];
                out[k] += WEIGHT[bias + 2 * n_out + k];
            }
        }
        for (int k = 0; k < n_out; k++) in[k] = activate(out[k], PLAN[5 * l + 2]) + (skip ? in[k] : 0.0);
        at = bias + n_out * (norm ? 3 : 1);
    }
    return in[0];
}

// ---- fill_copy
    float y[$n];
    memcpy(y, x, sizeof y);
    fill(y);

// ---- foot
/* The score of one document. */
double ${name}_score(const float *x) {
    double total = 0.0;
    $sum
    return total;
}

/* The scores of n documents, one after the other. */
void ${name}_scores(const float *rows, long n, double *scores) {
    for (long i = 0; i < n; i++) scores[i] = ${name}_score(rows + i * $n);
}

// ---- lists
static double score(const float *x) {
    double total = 0.0;
    $sum
    return total;
}

static void normalise(float *rows, long n) {
    for (int j = 0; j < $n; j++) {
        double low = INFINITY, high = -INFINITY, total = 0.0, size = 0.0, count = 0.0, spread = 0.0;
        for (long i = 0; i < n; i++) {
            const double v = rows[i * $n + j];
            if (v != v) continue;
            if (v < low) low = v;
            if (v > high) high = v;
            total += v;
            size += fabs(v);
            count += 1.0;
        }
        const double mean = total / (count > 1.0 ? count : 1.0);
        for (long i = 0; i < n; i++) {
            const double d = rows[i * $n + j] - mean;
            if (d == d) spread += d * d;
        }
        double shift = 0.0, divisor = INFINITY;
        if ($method == 0) shift = low;
        if ($method == 1) shift = mean;
        if ($method == 0 && high > low) divisor = high - low;
        if ($method == 1 && high > low) divisor = sqrt(spread / (count - 1.0));
        if ($method == 2 && size > 0.0) divisor = size;
        for (long i = 0; i < n; i++) rows[i * $n + j] = (float)((rows[i * $n + j] - shift) / divisor);
    }
}

/* The scores of the n documents of one query, one after the other; returns 0 unless memory is short. */
int ${name}_scores(const float *rows, long n, double *scores) {
    const size_t bytes = (size_t)n * $n * sizeof(float);
    float *copy = malloc(bytes > 0 ? bytes : 1);
    if (copy == NULL) return 1;
    memcpy(copy, rows, bytes);
$before    normalise(copy, n);
    for (long i = 0; i < n; i++) scores[i] = score(copy + i * $n);
    free(copy);
    return 0;
}

// ---- fill_rows
    for (long i = 0; i < n; i++) fill(copy + i * $n);

