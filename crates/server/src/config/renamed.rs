//! Settings that were renamed before 1.0. The old names are accepted for one release; a warning names the new ones.

use std::collections::BTreeMap;

use common::settings::SettingsError;

use super::dotenv::set_variables;
use super::environment;

/// Old and new names.
const RENAMED: &[(&str, &str)] = &[
    ("BUS_SILENCE_SECONDS", "BUS_TIMEOUT_SECONDS"),
    ("DOCSERVER_SILENCE_SECONDS", "DOCSERVER_SESSION_TIMEOUT_SECONDS"),
    ("DOCSERVER_SWEEP_SECONDS", "DOCSERVER_RECONCILE_INTERVAL_SECONDS"),
    ("SOCKET_SWEEP_SECONDS", "SOCKET_RECONCILE_INTERVAL_SECONDS"),
];

/// Returns the names of the previous release.
pub fn old_names() -> impl Iterator<Item = &'static str> {
    RENAMED.iter().map(|(old, _)| *old)
}

/// Returns the present name of a setting that had this name in the previous release.
pub fn new_name(name: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(old, _)| *old == name).map(|(_, new)| *new)
}

/// Copies the values of old names to the new ones. A new name that is set wins.
pub fn apply() -> Result<(), SettingsError> {
    let set = |name: &str| environment(name).filter(|value| !value.trim().is_empty());
    let copied = RENAMED.iter().filter(|(_, new)| set(new).is_none());
    let values: BTreeMap<String, String> = copied
        .filter_map(|(old, new)| Some(((*new).to_owned(), set(old)?)))
        .collect();
    set_variables(&values)
}

/// Logs a warning for every old name in the environment.
pub fn warn() {
    for (old, new) in RENAMED.iter().filter(|(old, _)| environment(old).is_some()) {
        tracing::warn!(
            setting = old,
            new_name = new,
            "setting was renamed: the old name is accepted for one release"
        );
    }
}
