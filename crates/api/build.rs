//! Declares the dependency of this crate on the built web client.

use std::io;

/// The output folder of `npm run build`.
const CLIENT: &str = "../../web/dist";

fn main() -> io::Result<()> {
    // Builds without the client succeed too. The folder must exist so that cargo detects a later client build.
    std::fs::create_dir_all(CLIENT)?;
    // A release build embeds the client; all others read it from the folder at runtime.
    #[expect(
        clippy::disallowed_methods,
        reason = "cargo passes the profile in an environment variable"
    )]
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    println!(
        "cargo:rerun-if-changed={}",
        if is_release { CLIENT } else { "build.rs" }
    );
    Ok(())
}
