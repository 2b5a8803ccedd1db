// ---- head
// ---- fill
fn fill(x: &mut [f32]) {
    for j in 0..$n {
        if x[j].is_nan() {
            x[j] = FILL[j];
        }
    }
}

// ---- forest
fn forest(x: &[f32], first: usize, last: usize) -> f64 {
    let mut total = 0.0;
    for t in first..last {
        let mut n = ROOT[t];
        while n >= 0 {
            let s = n as usize;
            let v = x[FEATURE[s] as usize];
            let goes_left = if v.is_nan() { MISSING_LEFT[s] != 0 } else { v <= THRESHOLD[s] };
            n = if goes_left { LEFT[s] } else { RIGHT[s] };
        }
        total += LEAF[!n as usize];
    }
    total
}

// ---- line
fn line(x: &[f32], at: usize) -> f64 {
    let mut total = 0.0;
    for j in 0..$n {
        total += WEIGHT[at + j] * x[j] as f64;
    }
    total + WEIGHT[at + $n]
}

// ---- network
fn erf(z: f64) -> f64 {
    if z.abs() > 6.0 {
        return z.signum();
    }
    let (mut term, mut sum, mut k) = (z, z, 1.0);
    while term.abs() > 1e-17 * sum.abs() {
        term *= 2.0 * z * z / (2.0 * k + 1.0);
        sum += term;
        k += 1.0;
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-z * z).exp() * sum
}

fn activate(z: f64, kind: usize) -> f64 {
    match kind {
        1 => z.max(0.0),
        2 => 0.5 * z * (1.0 + erf(z / std::f64::consts::SQRT_2)),
        3 => z / (1.0 + (-z).exp()),
        4 => z.tanh(),
        5 => 1.0 / (1.0 + (-z).exp()),
        _ => z,
    }
}

fn network(x: &[f32], start: usize, first: usize, last: usize, log: usize) -> f64 {
    let mut input = [0.0; $widest];
    let mut out = [0.0; $widest];
    for j in 0..$n {
        let raw = x[j] as f64;
        let v = if log != 0 { raw.abs().ln_1p().copysign(raw) } else { raw };
        input[j] = (v - WEIGHT[start + j]) * WEIGHT[start + $n + j];
    }
    let mut at = start + 2 * $n;
    for l in first..last {
        let plan: Vec<usize> = PLAN[5 * l..5 * l + 5].iter().map(|&p| p as usize).collect();
        let (n_in, n_out) = (plan[0], plan[1]);
        let bias = at + n_in * n_out;
        let (mut mean, mut variance) = (0.0, 0.0);
        for k in 0..n_out {
            out[k] = WEIGHT[bias + k];
            for j in 0..n_in {
                out[k] += WEIGHT[at + k * n_in + j] * input[j];
            }
            mean += out[k] / n_out as f64;
        }
        at = bias + n_out;
        if plan[3] != 0 {
            for k in 0..n_out {
                variance += (out[k] - mean) * (out[k] - mean) / n_out as f64;
            }
            let deviation = f64::sqrt(variance + 1e-5);
            for k in 0..n_out {
                out[k] = (out[k] - mean) / deviation * WEIGHT[at + k] + WEIGHT[at + n_out + k];
            }
            at += 2 * n_out;
        }
        for k in 0..n_out {
            input[k] = activate(out[k], plan[2]) + if plan[4] != 0 { input[k] } else { 0.0 };
        }
    }
    input[0]
}

// ---- fill_copy
    let mut row = x.to_vec();
    fill(&mut row);
    let y = &row[..];

// ---- foot
/// The score of one document.
pub fn score(x: &[f32]) -> f64 {
    let mut total = 0.0;
    $sum
    total
}

/// The scores of documents that follow each other in one slice.
pub fn scores(rows: &[f32]) -> Vec<f64> {
    rows.chunks_exact($n).map(score).collect()
}

// ---- lists
fn score(x: &[f32]) -> f64 {
    let mut total = 0.0;
    $sum
    total
}

fn normalise(rows: &mut [f32]) {
    for j in 0..$n {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut total, mut size, mut count, mut spread) = (0.0, 0.0, 0.0, 0.0);
        for row in rows.chunks_exact($n) {
            let v = row[j] as f64;
            if v.is_nan() {
                continue;
            }
            low = f64::min(low, v);
            high = f64::max(high, v);
            total += v;
            size += v.abs();
            count += 1.0;
        }
        let mean = total / f64::max(count, 1.0);
        for row in rows.chunks_exact($n) {
            let d = row[j] as f64 - mean;
            if !d.is_nan() {
                spread += d * d;
            }
        }
        let (shift, divisor) = match $method {
            0 => (low, if high > low { high - low } else { f64::INFINITY }),
            1 => (mean, if high > low { f64::sqrt(spread / (count - 1.0)) } else { f64::INFINITY }),
            _ => (0.0, if size > 0.0 { size } else { f64::INFINITY }),
        };
        for row in rows.chunks_exact_mut($n) {
            row[j] = ((row[j] as f64 - shift) / divisor) as f32;
        }
    }
}

/// The scores of the documents of one query, which follow each other in one slice.
pub fn scores(rows: &[f32]) -> Vec<f64> {
    let mut copy = rows.to_vec();
$before    normalise(&mut copy);
    copy.chunks_exact($n).map(score).collect()
}

// ---- fill_rows
    for row in copy.chunks_exact_mut($n) {
        fill(row);
    }

