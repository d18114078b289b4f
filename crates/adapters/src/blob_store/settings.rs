//! Settings of the object store, with the names that S3 tools use.

use std::path::PathBuf;

use clap::Args;

use common::settings::secret::read_secret_file;
use common::settings::{Secret, SettingsError};

/// Settings of the object store in FILES_URL. Without keys, the role of the machine or container is used.
#[derive(Args, Debug, Clone, Default)]
pub struct ObjectStoreArgs {
    /// Access key id of the object store; unset: the role of the machine or container
    #[arg(long, env = "AWS_ACCESS_KEY_ID")]
    pub aws_access_key_id: Option<String>,
    /// Secret access key of the object store
    #[arg(long, env = "AWS_SECRET_ACCESS_KEY", hide_env_values = true)]
    pub aws_secret_access_key: Option<Secret>,
    /// File that contains AWS_SECRET_ACCESS_KEY
    #[arg(long, env = "AWS_SECRET_ACCESS_KEY_FILE")]
    pub aws_secret_access_key_file: Option<PathBuf>,
    /// Session token of temporary credentials
    #[arg(long, env = "AWS_SESSION_TOKEN", hide_env_values = true)]
    pub aws_session_token: Option<Secret>,
    /// Region of the bucket
    #[arg(long, env = "AWS_REGION")]
    pub aws_region: Option<String>,
    /// URL of an object store other than Amazon S3, `https://store.example:9000`
    #[arg(long, env = "AWS_ENDPOINT_URL")]
    pub aws_endpoint_url: Option<String>,
    /// Whether AWS_ENDPOINT_URL may be plain http://, for a store on the same machine
    #[arg(long, env = "AWS_ALLOW_HTTP", default_value_t = false, action = clap::ArgAction::Set)]
    pub aws_allow_http: bool,
}

impl ObjectStoreArgs {
    /// Returns the secret access key, from its variable or its file.
    pub fn secret_access_key(&self) -> Result<Option<Secret>, SettingsError> {
        let set = self.aws_secret_access_key.as_ref().map(|secret| secret.expose().trim());
        if let Some(set) = set.filter(|text| !text.is_empty()) {
            return Ok(Some(Secret::new(set)));
        }
        let from_file = self.aws_secret_access_key_file.as_deref().map(read_secret_file);
        Ok(from_file.transpose()?.map(Secret::new))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn secret_key_is_read_from_file_and_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        std::fs::write(&file, "  from-the-file\n").unwrap();
        let readable_by = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        readable_by(0o640);
        let mut args = ObjectStoreArgs {
            aws_secret_access_key_file: Some(file.clone()),
            ..ObjectStoreArgs::default()
        };
        let key = |args: &ObjectStoreArgs| args.secret_access_key().unwrap().unwrap().expose().to_owned();
        assert_eq!(key(&args), "from-the-file");
        readable_by(0o644);
        let refused = args.secret_access_key().unwrap_err().to_string();
        assert!(
            refused.contains(&file.display().to_string()) && refused.contains("chmod 600"),
            "{refused}"
        );
        args.aws_secret_access_key = Some("from-the-setting".into());
        assert_eq!(key(&args), "from-the-setting");
        args.aws_session_token = Some("lent".into());
        let shown = format!("{args:?}");
        assert!(
            !shown.contains("from-the-setting") && !shown.contains("lent"),
            "{shown}"
        );
        args.aws_secret_access_key_file = Some(folder.path().join("missing"));
        assert_eq!(key(&args), "from-the-setting", "what is set counts");
        args.aws_secret_access_key = Some("  ".into());
        assert!(
            args.secret_access_key().is_err(),
            "a file that is named has to be there"
        );
    }
}
