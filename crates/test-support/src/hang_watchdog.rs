//! A test that never ends is named, and ends the run: without this a run that hangs says nothing, however long it is waited
//! for, and what kills it in the end does not say why.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use super::size;

/// The longest test takes two minutes on a quiet machine.
const LONG: Duration = Duration::from_mins(12);
/// The same in a soak.
const LONG_SOAK: Duration = Duration::from_hours(6);
const LOOK: Duration = Duration::from_secs(5);

static RUNNING: Mutex<BTreeMap<String, Instant>> = Mutex::new(BTreeMap::new());
static WATCHED: Once = Once::new();

thread_local! {
    static OF_THIS_THREAD: OnceCell<Running> = const { OnceCell::new() };
}

/// The test of one thread; it has ended when its thread has, with all that the thread waited for.
struct Running(String);

impl Drop for Running {
    fn drop(&mut self) {
        running().remove(&self.0);
    }
}

fn running() -> MutexGuard<'static, BTreeMap<String, Instant>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Watches the test that calls: the thread of a test has its name.
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
            // Past the harness, which keeps what tests print until they end.
            drop(writeln!(std::io::stderr(), "\n{}", overdue.join("\n")));
            std::process::exit(101);
        }
    }
}
