// ---- head
package $name

import "math"

var _ = math.Inf

// ---- fill
func fill(x []float32) []float32 {
	for j, v := range x {
		if v != v {
			x[j] = fills[j]
		}
	}
	return x
}

// ---- forest
func forest(x []float32, first, last int) float64 {
	total := 0.0
	for t := first; t < last; t++ {
		n := root[t]
		for n >= 0 {
			v := x[feature[n]]
			if (v != v && missingLeft[n] != 0) || v <= threshold[n] {
				n = left[n]
			} else {
				n = right[n]
			}
		}
		total += leaf[^n]
	}
	return total
}

// ---- line
func line(x []float32, at int) float64 {
	total := 0.0
	for j := 0; j < $n; j++ {
		total += float64(weight[at+j] * float64(x[j])) // the conversion forbids fused operations
	}
	return total + weight[at+$n]
}

// ---- network
func activate(z float64, kind int32) float64 {
	switch kind {
	case 1:
		return math.Max(z, 0)
	case 2:
		return 0.5 * z * (1 + math.Erf(z/math.Sqrt2))
	case 3:
		return z / (1 + math.Exp(-z))
	case 4:
		return math.Tanh(z)
	case 5:
		return 1 / (1 + math.Exp(-z))
	}
	return z
}

func network(x []float32, at, first, last, log int) float64 {
	in, out := make([]float64, $widest), make([]float64, $widest)
	for j := 0; j < $n; j++ {
		v := float64(x[j])
		if log != 0 {
			v = math.Copysign(math.Log1p(math.Abs(v)), v)
		}
		in[j] = (v - weight[at+j]) * weight[at+$n+j]
	}
	at += 2 * $n
	for l := first; l < last; l++ {
		nIn, nOut, norm, skip := int(plan[5*l]), int(plan[5*l+1]), plan[5*l+3] != 0, plan[5*l+4] != 0
		bias := at + nIn*nOut
		mean, variance := 0.0, 0.0
		for k := 0; k < nOut; k++ {
			out[k] = weight[bias+k]
			for j := 0; j < nIn; j++ {
				out[k] += weight[at+k*nIn+j] * in[j]
			}
			mean += out[k] / float64(nOut)
		}
		at = bias + nOut
		if norm {
			for k := 0; k < nOut; k++ {
				variance += (out[k] - mean) * (out[k] - mean) / float64(nOut)
			}
			for k := 0; k < nOut; k++ {
				out[k] = (out[k]-mean)/math.Sqrt(variance+1e-5)*weight[at+k] + weight[at+nOut+k]
			}
			at += 2 * nOut
		}
		for k := 0; k < nOut; k++ {
			value := activate(out[k], plan[5*l+2])
			if skip {
				value += in[k]
			}
			in[k] = value
		}
	}
	return in[0]
}

// ---- fill_copy
	y := fill(append([]float32(nil), x...))

// ---- foot
// Score is the score of one document.
func Score(x []float32) float64 {
	total := 0.0
	$sum
	return total
}

// Scores are the scores of several documents.
func Scores(rows [][]float32) []float64 {
	scores := make([]float64, len(rows))
	for i, x := range rows {
		scores[i] = Score(x)
	}
	return scores
}

// ---- lists
func score(x []float32) float64 {
	total := 0.0
	$sum
	return total
}

func normalise(rows [][]float32) {
	for j := 0; j < $n; j++ {
		low, high := math.Inf(1), math.Inf(-1)
		total, size, count, spread := 0.0, 0.0, 0.0, 0.0
		for _, row := range rows {
			v := float64(row[j])
			if v != v {
				continue
			}
			low, high = math.Min(low, v), math.Max(high, v)
			total += v
			size += math.Abs(v)
			count++
		}
		mean := total / math.Max(count, 1)
		for _, row := range rows {
			d := float64(row[j]) - mean
			if d == d {
				spread += float64(d * d)
			}
		}
		shift, divisor := 0.0, math.Inf(1)
		switch {
		case $method == 0 && high > low:
			divisor = high - low
		case $method == 1 && high > low:
			divisor = math.Sqrt(spread / (count - 1))
		case $method == 2 && size > 0:
			divisor = size
		}
		if $method == 0 {
			shift = low
		} else if $method == 1 {
			shift = mean
		}
		for _, row := range rows {
			row[j] = float32((float64(row[j]) - shift) / divisor)
		}
	}
}

// Scores are the scores of the documents of one query.
func Scores(rows [][]float32) []float64 {
	rest := make([][]float32, len(rows))
	for i, row := range rows {
		rest[i] = append([]float32(nil), row...)
	}
$before	normalise(rest)
	scores := make([]float64, len(rows))
	for i, x := range rest {
		scores[i] = score(x)
	}
	return scores
}

// ---- fill_rows
	for _, row := range rest {
		fill(row)
	}

