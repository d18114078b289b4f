//! Tells cargo what it cannot see: the built web client is part of this crate.

use std::io;

/// Where `npm run build` leaves the client.
const CLIENT: &str = "../../web/dist";

fn main() -> io::Result<()> {
    // A build without the client works too, and one that comes later is found only in a folder that was there.
    std::fs::create_dir_all(CLIENT)?;
    // A release carries the client in itself; every other build reads it from that folder while it runs.
    #[expect(clippy::disallowed_methods, reason = "this is how cargo speaks to a build script")]
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    println!(
        "cargo:rerun-if-changed={}",
        if is_release { CLIENT } else { "build.rs" }
    );
    Ok(())
}
