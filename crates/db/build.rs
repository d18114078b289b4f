//! Compiles the crate again when a migration was added: `embed_migrations!` alone does not.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
