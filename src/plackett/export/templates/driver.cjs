const fs = require("fs");
const model = require(process.argv[2]);
const d = Number(process.argv[3]);
const bytes = fs.readFileSync("rows");
const values = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const rows = [];
for (let i = 0; i < values.length; i += d) rows.push(values.subarray(i, i + d));
fs.writeFileSync("scores", Buffer.from(Float64Array.from(model.scores(rows)).buffer));
