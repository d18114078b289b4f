//! Selects and loads the settings file: `--env-file`, else `.env` in the working directory, else
//! [`PACKAGE_FILE`]. Exactly one file is read. The environment takes precedence over it, and an empty variable counts
//! as unset in both.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::dotenv::{self, set_variables};
use super::{environment, environment_names};
use common::settings::SettingsError;
use common::settings::secret::check_not_world_readable;

/// The file in the working directory.
const LOCAL_FILE: &str = ".env";
/// The file of the Debian package, which the systemd unit reads too.
pub const PACKAGE_FILE: &str = "/etc/groupwork/groupwork.env";
/// The flag, which is read before the other arguments, because the file provides their defaults.
const FLAG: &str = "--env-file";
/// Variables that are not settings of this program but affect its libraries or its service manager.
const FOREIGN_PREFIXES: [&str; 4] = ["AWS_", "LC_", "MIMALLOC_", "RUST_"];
const FOREIGN_NAMES: [&str; 12] = [
    "GROUPWORK_FAILPOINT",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "NO_COLOR",
    "NO_PROXY",
    "PATH",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TMPDIR",
    "TZ",
];
/// The minimum similarity of a suggestion (Jaro-Winkler).
const SUGGESTION_SIMILARITY: f64 = 0.85;
/// The maximum number of typing errors by which a variable of the environment is mistaken for a setting.
const TYPING_ERRORS_MAX: usize = 2;
/// Shorter names have too many neighbours.
const NEAR_MISS_LENGTH_MIN: usize = 5;

/// The names of all settings, including the names that were renamed.
pub struct SettingNames(pub Vec<String>);

impl SettingNames {
    pub fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|known| known == name)
    }

    /// Returns the setting with the most similar name.
    fn suggest(&self, name: &str) -> Option<&str> {
        let by_similarity = self.0.iter().map(|known| (strsim::jaro_winkler(name, known), known));
        let best = by_similarity.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
        (best.0 > SUGGESTION_SIMILARITY).then_some(best.1.as_str())
    }

    /// Returns the setting that a name misspells: a suggestion that is certain enough to be made unasked.
    fn misspelled(&self, name: &str) -> Option<&str> {
        if self.contains(name) || name.len() < NEAR_MISS_LENGTH_MIN {
            return None;
        }
        let by_distance = self
            .0
            .iter()
            .map(|known| (strsim::damerau_levenshtein(name, known), known));
        let (distance, known) = by_distance.min_by_key(|(distance, _)| *distance)?;
        (distance <= TYPING_ERRORS_MAX.min(name.len() / 4)).then_some(known.as_str())
    }

    /// Returns whether a line of a settings file is neither a setting nor a variable for another program.
    fn is_unknown(&self, name: &str) -> bool {
        !self.contains(name) && (!is_foreign(name) || self.misspelled(name).is_some())
    }

    fn refuse(&self, file: &Path, unknown: &[&String]) -> SettingsError {
        let described = unknown.iter().map(|name| {
            let suggestion = self.suggest(name);
            let suggestion = suggestion.map_or_else(String::new, |known| format!(" (did you mean {known}?)"));
            format!("{name} is no setting of groupwork{suggestion}")
        });
        let described: Vec<String> = described.collect();
        SettingsError(format!("{}: {}", file.display(), described.join("; ")))
    }
}

/// The settings file of this process.
pub struct LoadedFile {
    pub path: PathBuf,
    /// The names in the file.
    pub names: Vec<String>,
}

static LOADED: OnceLock<LoadedFile> = OnceLock::new();

/// Returns the settings file of this process, if there is one.
pub fn loaded() -> Option<&'static LoadedFile> {
    LOADED.get()
}

/// Which files a command reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A command for the installation of this machine.
    Installation,
    /// The demo, which must never use the data of the installation, and accepts files of other programs.
    Demo,
}

/// Loads the settings file into the environment of this process.
pub fn load(arguments: &[OsString], scope: Scope, names: &SettingNames) -> Result<(), SettingsError> {
    let Some((path, bytes)) = find(arguments, scope)? else {
        return Ok(());
    };
    check_not_world_readable(&path)?;
    let is_setting = |name: &str| names.contains(name);
    let refused = |why: String| SettingsError(format!("{}: {why}", path.display()));
    let values = dotenv::parse(&bytes, &is_setting).map_err(|unreadable| refused(unreadable.to_string()))?;
    let unknown: Vec<&String> = values.keys().filter(|name| names.is_unknown(name)).collect();
    if !unknown.is_empty() && scope == Scope::Installation {
        return Err(names.refuse(&path, &unknown));
    }
    let file = LoadedFile {
        path: path.clone(),
        names: values.keys().cloned().collect(),
    };
    LOADED.get_or_init(|| file);
    let is_unset = |name: &String| environment(name).is_none_or(|value| value.trim().is_empty());
    let values: BTreeMap<String, String> = values.into_iter().filter(|(name, _)| is_unset(name)).collect();
    set_variables(&values).map_err(|SettingsError(why)| refused(why))
}

fn find(arguments: &[OsString], scope: Scope) -> Result<Option<(PathBuf, Vec<u8>)>, SettingsError> {
    let failed = |path: &Path, error: &std::io::Error| {
        let hint = if error.kind() == ErrorKind::PermissionDenied {
            "; run the command with sudo"
        } else {
            ""
        };
        SettingsError(format!("{}: {error}{hint}", path.display()))
    };
    if let Some(path) = flag(arguments) {
        let bytes = std::fs::read(&path).map_err(|error| failed(&path, &error))?;
        return Ok(Some((path, bytes)));
    }
    for candidate in [LOCAL_FILE, PACKAGE_FILE] {
        if candidate == PACKAGE_FILE && scope == Scope::Demo {
            continue;
        }
        match std::fs::read(candidate) {
            Ok(bytes) => return Ok(Some((PathBuf::from(candidate), bytes))),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(Path::new(candidate), &error)),
        }
    }
    Ok(None)
}

/// Returns the value of `--env-file`.
fn flag(arguments: &[OsString]) -> Option<PathBuf> {
    let mut rest = arguments.iter().take_while(|argument| *argument != "--");
    while let Some(argument) = rest.next() {
        if argument == FLAG {
            return rest.next().map(PathBuf::from);
        }
        let inline = argument
            .to_str()
            .and_then(|text| text.strip_prefix(FLAG)?.strip_prefix('='));
        if let Some(path) = inline {
            return Some(PathBuf::from(path));
        }
    }
    None
}

/// Returns the variables of the environment that look like a misspelled setting, each with that setting.
pub fn near_misses(names: &SettingNames) -> Vec<(String, String)> {
    let near = |name: String| names.misspelled(&name).map(str::to_owned).map(|known| (name, known));
    environment_names().into_iter().filter_map(near).collect()
}

fn is_foreign(name: &str) -> bool {
    FOREIGN_NAMES.iter().any(|foreign| name.eq_ignore_ascii_case(foreign))
        || FOREIGN_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> SettingNames {
        SettingNames(["DOCSERVER_URL", "LISTEN", "DATA_DIR"].map(str::to_owned).to_vec())
    }

    #[test]
    fn env_file_flag_is_found_in_both_forms() {
        let found = |words: &[&str]| flag(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(found(&["serve", "--env-file", "a"]), Some(PathBuf::from("a")));
        assert_eq!(found(&["--env-file=b", "serve"]), Some(PathBuf::from("b")));
        assert_eq!(found(&["serve", "--", "--env-file=b"]), None);
        assert_eq!(found(&["serve", "--env-files=b"]), None);
    }

    #[test]
    fn misspelled_name_is_one_or_two_typing_errors_away() {
        let names = SettingNames(["DOCSERVER_URL", "LISTEN", "AWS_REGION"].map(str::to_owned).to_vec());
        assert_eq!(names.misspelled("DOCSERVER_ULR"), Some("DOCSERVER_URL"));
        assert_eq!(names.misspelled("LISTENS"), Some("LISTEN"));
        for other in ["LISTEN_PID", "LISTEN_FDS", "LIST", "DOCSERVER_URL", "HOME"] {
            assert_eq!(names.misspelled(other), None, "{other}");
        }
        assert!(names.is_unknown("AWS_REGIO") && !names.is_unknown("AWS_ROLE_ARN") && !names.is_unknown("TZ"));
    }

    #[test]
    fn unknown_name_is_refused_with_similar_setting() {
        let refused = names().refuse(Path::new("/x"), &[&"DOCSERVER_ULR".to_owned(), &"OTHER".to_owned()]);
        assert_eq!(
            refused.0,
            "/x: DOCSERVER_ULR is no setting of groupwork (did you mean DOCSERVER_URL?); OTHER is no setting of groupwork"
        );
    }
}
