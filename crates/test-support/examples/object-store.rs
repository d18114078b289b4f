//! Runs the S3 server of the tests until standard input is closed, for `scripts/play-nginx`. Prints the settings of
//! groupwork that use it, one `NAME=value` per line.

#![expect(clippy::print_stdout, reason = "the settings are the output of this program")]

use test_support::fake_s3::FakeS3;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let bucket = FakeS3::open().await;
    for (name, value) in bucket.settings() {
        println!("{name}={value}");
    }
    tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink())).await??;
    Ok(())
}
