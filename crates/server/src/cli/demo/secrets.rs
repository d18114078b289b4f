//! The secrets of the demo: generated once and stored in its data folder, readable by its owner only.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

/// The secrets of a demo.
#[derive(Serialize, Deserialize)]
pub struct Secrets {
    /// Signs session cookies.
    pub auth: String,
    /// Signs document-server tokens.
    pub docserver: String,
}

/// Reads the secrets of a data folder, or generates them.
pub fn load_or_create(data_dir: &Path) -> anyhow::Result<Secrets> {
    let path = data_dir.join("demo-secrets.json");
    if let Ok(text) = fs::read_to_string(&path) {
        return serde_json::from_str(&text).with_context(|| format!("read {}", path.display()));
    }
    fs::create_dir_all(data_dir).with_context(|| format!("make {}", data_dir.display()))?;
    let random = || better_auth::token::random_text(48);
    let secrets = Secrets {
        auth: random(),
        docserver: random(),
    };
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    file.write_all(&serde_json::to_vec_pretty(&secrets)?)?;
    file.sync_all()?;
    Ok(secrets)
}
