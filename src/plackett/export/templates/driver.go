package main

import (
	"encoding/binary"
	"math"
	"os"
	"strconv"

	"proof/$name"
)

func main() {
	d, _ := strconv.Atoi(os.Args[1])
	bytes, err := os.ReadFile("rows")
	if err != nil {
		panic(err)
	}
	var rows [][]float32
	for i := 0; i < len(bytes); i += 4 * d {
		row := make([]float32, d)
		for j := range row {
			row[j] = math.Float32frombits(binary.LittleEndian.Uint32(bytes[i+4*j:]))
		}
		rows = append(rows, row)
	}
	var out []byte
	for _, score := range $name.Scores(rows) {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(score))
	}
	if os.WriteFile("scores", out, 0o600) != nil {
		panic("cannot write")
	}
}
