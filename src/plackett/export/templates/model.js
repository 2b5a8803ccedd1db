// ---- head
const $name = (() => {
// ---- fill
  function fill(x) {
    for (let j = 0; j < $n; j++) {
      if (x[j] !== x[j]) x[j] = FILL[j];
    }
    return x;
  }

// ---- forest
  function forest(x, first, last) {
    let total = 0;
    for (let t = first; t < last; t++) {
      let n = ROOT[t];
      while (n >= 0) {
        const v = Math.fround(x[FEATURE[n]]);
        n = (v !== v ? MISSING_LEFT[n] !== 0 : v <= THRESHOLD[n]) ? LEFT[n] : RIGHT[n];
      }
      total += LEAF[~n];
    }
    return total;
  }

// ---- line
  function line(x, at) {
    let total = 0;
    for (let j = 0; j < $n; j++) total += WEIGHT[at + j] * Math.fround(x[j]);
    return total + WEIGHT[at + $n];
  }

// ---- network
  function erf(z) {
    if (Math.abs(z) > 6) return Math.sign(z);
    let term = z, sum = z;
    for (let k = 1; Math.abs(term) > 1e-17 * Math.abs(sum); k++) {
      term *= 2 * z * z / (2 * k + 1);
      sum += term;
    }
    return 2 / Math.sqrt(Math.PI) * Math.exp(-z * z) * sum;
  }

  const ACTIVATE = [
    (z) => z,
    (z) => Math.max(z, 0),
    (z) => 0.5 * z * (1 + erf(z / Math.SQRT2)),
    (z) => z / (1 + Math.exp(-z)),
    Math.tanh,
    (z) => 1 / (1 + Math.exp(-z)),
  ];

  function network(x, at, first, last, log) {
    const input = new Float64Array($widest), out = new Float64Array($widest);
    for (let j = 0; j < $n; j++) {
      const raw = Math.fround(x[j]);
      const v = log ? Math.sign(raw) * Math.log1p(Math.abs(raw)) : raw;
      input[j] = (v - WEIGHT[at + j]) * WEIGHT[at + $n + j];
    }
    at += 2 * $n;
    for (let l = first; l < last; l++) {
      const [nIn, nOut, kind, norm, skip] = PLAN.subarray(5 * l, 5 * l + 5);
      const bias = at + nIn * nOut;
      let mean = 0, variance = 0;
      for (let k = 0; k < nOut; k++) {
        out[k] = WEIGHT[bias + k];
        for (let j = 0; j < nIn; j++) out[k] += WEIGHT[at + k * nIn + j] * input[j];
        mean += out[k] / nOut;
      }
      if (norm) {
        for (let k = 0; k < nOut; k++) variance += (out[k] - mean) * (out[k] - mean) / nOut;
        for (let k = 0; k < nOut; k++) {
          out[k] = (out[k] - mean) / Math.sqrt(variance + 1e-5) * WEIGHT[bias + nOut + k] + WEIGHT[bias + 2 * nOut + k];
        }
      }
      for (let k = 0; k < nOut; k++) input[k] = ACTIVATE[kind](out[k]) + (skip ? input[k] : 0);
      at = bias + nOut * (norm ? 3 : 1);
    }
    return input[0];
  }

// ---- fill_copy
    const y = fill(Float32Array.from(x));

// ---- foot
  /** The score of one document. */
  function score(x) {
    let total = 0;
    $sum
    return total;
  }

  /** The score of each document. */
  function scores(rows) {
    return Array.from(rows, score);
  }

  return { score, scores };
})();

if (typeof module !== "undefined") module.exports = $name;

// ---- lists
  function score(x) {
    let total = 0;
    $sum
    return total;
  }

  function normalise(rows) {
    for (let j = 0; j < $n; j++) {
      let low = Infinity, high = -Infinity, total = 0, size = 0, count = 0, spread = 0;
      for (const row of rows) {
        const v = row[j];
        if (v !== v) continue;
        low = Math.min(low, v);
        high = Math.max(high, v);
        total += v;
        size += Math.abs(v);
        count += 1;
      }
      const mean = total / Math.max(count, 1);
      for (const row of rows) {
        const d = row[j] - mean;
        if (d === d) spread += d * d;
      }
      let shift = 0, divisor = Infinity;
      if ($method === 0) shift = low;
      if ($method === 1) shift = mean;
      if ($method === 0 && high > low) divisor = high - low;
      if ($method === 1 && high > low) divisor = Math.sqrt(spread / (count - 1));
      if ($method === 2 && size > 0) divisor = size;
      for (const row of rows) row[j] = (row[j] - shift) / divisor;
    }
  }

  /** The score of each document of one query. */
  function scores(rows) {
    const copy = Array.from(rows, (row) => Float32Array.from(row));
$before    normalise(copy);
    return copy.map(score);
  }

  return { scores };
})();

if (typeof module !== "undefined") module.exports = $name;

// ---- fill_rows
    copy.forEach((row) => fill(row));

