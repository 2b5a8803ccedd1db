#[path = "$name.rs"]
mod model;

fn main() -> std::io::Result<()> {
    let rows: Vec<f32> = std::fs::read("rows")?
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    let scores: Vec<u8> = model::scores(&rows).iter().flat_map(|s| s.to_le_bytes()).collect();
    std::fs::write("scores", scores)
}
