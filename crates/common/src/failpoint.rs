//! Named failpoints at which tests can run code or kill the process. They are always compiled and off by default.
//! `GROUPWORK_FAILPOINT=name:count` aborts the process at the given hit; tests in the same process install a hook.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// All failpoints. `tests/resilience/crash/mod.rs` compares the list with the sources, kills the process at each one, and
/// fails when one is never hit.
pub const NAMES: &[&str] = &[
    "files.staged",
    "files.before_sync",
    "files.before_rename",
    "files.after_rename",
    "files.after_dir_sync",
    "files.linked",
    "store.before_commit",
    "store.after_commit",
    "save.fetched",
    "save.kept",
    "save.copied",
    "save.written",
    "submit.after_copy",
    "submit.after_commit",
    "finish.after_commit",
    "freeze.before_ask",
    "freeze.before_drop",
    "freeze.after_drop",
    "sweep.before_delete",
    "deletion.archived",
    "deletion.listed",
    "deletion.restoring",
    "deletion.closing",
    "deletion.saved",
    "deletion.dropped",
    "deletion.text_kept",
    "deletion.purged",
    "commits.appended",
    "commits.written",
    "commits.log_written",
    "commits.frozen",
    "conversion.listed",
    "conversion.kept",
    "conversion.fetched",
    "conversion.released",
    "upload.staged",
    "upload.kept",
    "upload.written",
    "removal.gone",
    "start.migrated",
    "start.opened",
    "start.named",
    "start.built",
];

type Hook = Box<dyn FnMut(&str) + Send>;

static ARMED: AtomicBool = AtomicBool::new(false);
static HOOK: Mutex<Option<Hook>> = Mutex::new(None);

/// Hits the named failpoint. Costs one relaxed load while no hook is installed.
pub fn hit(name: &str) {
    if ARMED.load(Ordering::Relaxed)
        && let Some(hook) = HOOK.lock().unwrap_or_else(PoisonError::into_inner).as_mut()
    {
        hook(name);
    }
}

/// Installs a hook that is called at every hit from now on.
pub fn install(hook: impl FnMut(&str) + Send + 'static) {
    *HOOK.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(hook));
    ARMED.store(true, Ordering::Relaxed);
}

/// Aborts the process at the `count`-th hit of `name`, as a power cut would: no destructor runs and no response is
/// sent.
pub fn arm_kill(specification: &str) {
    let (wanted, count) = specification.rsplit_once(':').unwrap_or((specification, "1"));
    let (wanted, mut left) = (wanted.to_owned(), count.parse::<u32>().unwrap_or(1));
    install(move |name| {
        if name == wanted {
            left = left.saturating_sub(1);
            if left == 0 {
                std::process::abort();
            }
        }
    });
}
