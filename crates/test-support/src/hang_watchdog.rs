//! Names a test that hangs and ends the run. Without this watchdog a run that hangs prints nothing, and the process
//! that finally kills it does not report the cause.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use super::size;

/// The limit for one test; the longest test takes two minutes on an idle machine.
const LONG: Duration = Duration::from_mins(12);
/// The limit for one test in a soak run.
const LONG_SOAK: Duration = Duration::from_hours(6);
const LOOK: Duration = Duration::from_secs(5);

static RUNNING: Mutex<BTreeMap<String, Instant>> = Mutex::new(BTreeMap::new());
static WATCHED: Once = Once::new();

thread_local! {
    static OF_THIS_THREAD: OnceCell<Running> = const { OnceCell::new() };
}

/// The test of one thread. It has ended when its thread has ended, including everything the thread waited for.
struct Running(String);

impl Drop for Running {
    fn drop(&mut self) {
        running().remove(&self.0);
    }
}

fn running() -> MutexGuard<'static, BTreeMap<String, Instant>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Watches the calling test: the thread of a test has the test's name.
pub fn watch() {
    let thread = std::thread::current();
    let Some(name) = thread.name().filter(|name| name.contains("::")) else {
        return;
    };
    OF_THIS_THREAD.with(|of_this_thread| {
        of_this_thread.get_or_init(|| {
            running().insert(name.to_owned(), Instant::now());
            Running(name.to_owned())
        });
    });
    WATCHED.call_once(|| drop(std::thread::spawn(look)));
}

fn look() {
    loop {
        std::thread::sleep(LOOK);
        let overdue: Vec<String> = running()
            .iter()
            .filter(|(_, since)| since.elapsed() > size(LONG, LONG_SOAK))
            .map(|(name, since)| format!("test {name} ... FAILED: it has not ended after {:?}", since.elapsed()))
            .collect();
        if !overdue.is_empty() {
            // Writes to stderr directly: the test harness captures printed output until a test ends.
            drop(writeln!(std::io::stderr(), "\n{}", overdue.join("\n")));
            std::process::exit(101);
        }
    }
}
