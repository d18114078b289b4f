//! The switches that make this server fail the way real ones do, settable while it runs.
//! A switch only says what shall go wrong; the place where it goes wrong asks it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;

/// What goes wrong when somebody fetches a result file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DownloadFault {
    /// The first byte comes after so many milliseconds.
    Slow(u64),
    /// The connection ends after half of the announced bytes.
    Truncated,
    /// A friendly HTML page with status 200.
    Html,
    /// An error page with this status; 302 points to another address of this server.
    Status(u16),
    /// The file, followed by zeros up to so many bytes.
    Oversized(u64),
    /// Bytes without end.
    Endless,
}

/// How a second copy of a callback is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Duplicate {
    /// After the first was answered.
    Sequential,
    /// At the same time.
    Parallel,
}

/// How the whole server is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Down {
    /// Connections are refused and open ones reset; only [`Switches`] ends it. A mounted router answers 503 instead.
    Refuse,
    /// Everything but `/practice` answers 503.
    Unavailable,
}

/// A callback that leaves later than its moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SlowCallback {
    /// Only this status, or every one.
    #[serde(default)]
    pub status: Option<u8>,
    /// So many milliseconds later; not scaled.
    pub milliseconds: u64,
}

/// Everything that can go wrong; the default is a healthy server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is one switch")]
pub struct Faults {
    /// What is wrong with downloads of result files.
    pub download: Option<DownloadFault>,
    /// So many downloads fail, then the fault heals; without it, all fail.
    pub download_times: Option<u32>,
    /// Callbacks that leave late.
    pub slow_callback: Option<SlowCallback>,
    /// Callbacks 2 and 6 are sent twice.
    pub duplicate: Option<Duplicate>,
    /// Callbacks of these statuses wait until released; others overtake them.
    pub hold: Vec<u8>,
    /// So many callbacks are delivered, but their answers are lost: the server takes it as no answer.
    pub lose_answers: u32,
    /// The host in `url`, `changesurl` and `fileUrl`, as after a spoofed `X-Forwarded-Host`.
    pub foreign_host: Option<String>,
    /// The `filetype` of callbacks, whatever the bytes are.
    pub wrong_filetype: Option<String>,
    /// Saves cannot be assembled: status 3 and 7 instead of 2 and 6.
    pub assembly_fails: bool,
    /// Status 3 carries the `url` of a damaged result.
    pub partial_result: bool,
    /// Every result is put where the one before it was: the name of a result is a number of four digits behind the key,
    /// which comes again in a long session.
    pub reuses_result_names: bool,
    /// So many made-up entries are added to `history`, for long sessions.
    pub history_padding: usize,
    /// Final saves are not sent at all but go to forgotten storage.
    pub forgets_saves: bool,
    /// The server is away.
    pub down: Option<Down>,
    /// `forcesave` answers this and does nothing.
    pub forcesave_answer: Option<i64>,
    /// Clients go on typing after `drop`.
    pub ignores_drop: bool,
    /// Editors send what was typed only every so many milliseconds, and lose the rest when their page removes them; the
    /// real ones send every 2,000. Applies to editors that open from now on. Without it everything is sent at once.
    pub autosave_gap: Option<u64>,
    /// So many milliseconds more to assemble a forced save; not scaled. A session that ends meanwhile drops the result.
    pub forced_assembly: u64,
    /// Every command answers this error.
    pub command_error: Option<i64>,
    /// Commands answer so many milliseconds later; not scaled.
    pub command_delay: u64,
    /// Only commands for keys with this in them are struck by the two above; without it, all are.
    pub command_key: Option<String>,
    /// `/healthcheck` says `false`, with status 200.
    pub unhealthy: bool,
    /// Conversions end with this error.
    pub conversion_error: Option<i64>,
    /// Conversions never end.
    pub conversion_hangs: bool,
    /// So many polls are answered "not yet" before an asynchronous conversion shows its end.
    pub conversion_polls: u32,
}

struct Inner {
    faults: Mutex<Faults>,
    down: watch::Sender<Option<Down>>,
    released: watch::Sender<u64>,
    held: watch::Sender<usize>,
}

/// Counts one held callback for as long as it is held, also when a crash ends it.
struct Held<'s>(&'s watch::Sender<usize>);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// The handle to the switches; copies turn the same ones.
#[derive(Clone)]
pub struct Switches(Arc<Inner>);

impl Switches {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Inner {
            faults: Mutex::new(Faults::default()),
            down: watch::Sender::new(None),
            released: watch::Sender::new(0),
            held: watch::Sender::new(0),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Faults> {
        self.0.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How the switches stand.
    pub fn get(&self) -> Faults {
        self.lock().clone()
    }

    /// Replaces all switches.
    pub fn set(&self, faults: Faults) {
        self.0.down.send_replace(faults.down);
        *self.lock() = faults;
    }

    /// Turns some switches and leaves the others.
    pub fn change(&self, turn: impl FnOnce(&mut Faults)) {
        let mut faults = self.lock();
        turn(&mut faults);
        self.0.down.send_replace(faults.down);
    }

    /// Back to a healthy server; callbacks that were held leave.
    pub fn clear(&self) {
        self.set(Faults::default());
        self.release();
    }

    /// Lets every callback go that is held now; later ones of a held status wait again.
    pub fn release(&self) {
        self.0.released.send_modify(|count| *count += 1);
    }

    /// Waits until so many callbacks are held; a release before that would miss them.
    pub async fn until_held(&self, callbacks: usize) {
        let mut held = self.0.held.subscribe();
        let _never_closed = held.wait_for(|count| *count >= callbacks).await;
    }

    /// Sets the fields that `part` names and leaves the others.
    pub(crate) fn merge(&self, part: &Value) -> Result<Faults, serde_json::Error> {
        let mut whole = serde_json::to_value(self.get())?;
        if let (Some(whole), Some(part)) = (whole.as_object_mut(), part.as_object()) {
            whole.extend(part.clone());
        }
        let faults: Faults = serde_json::from_value(whole)?;
        self.set(faults.clone());
        Ok(faults)
    }

    pub(crate) fn down(&self) -> watch::Receiver<Option<Down>> {
        self.0.down.subscribe()
    }

    /// Waits while callbacks of this status are held.
    pub(crate) async fn pass(&self, status: u8) {
        let mut released = self.0.released.subscribe();
        let before = *released.borrow_and_update();
        if self.holds(status) {
            self.0.held.send_modify(|count| *count += 1);
            let _held = Held(&self.0.held);
            let _gone = released.wait_for(|count| *count > before).await;
        }
    }

    pub(crate) fn holds(&self, status: u8) -> bool {
        self.lock().hold.contains(&status)
    }

    /// The fault of this download, counted down.
    pub(crate) fn take_download(&self) -> Option<DownloadFault> {
        let mut faults = self.lock();
        let fault = faults.download?;
        match &mut faults.download_times {
            Some(0) => return None,
            Some(times) => *times -= 1,
            None => {}
        }
        Some(fault)
    }

    /// Whether the answer to this callback gets lost, counted down.
    pub(crate) fn take_lost_answer(&self) -> bool {
        let mut faults = self.lock();
        let lost = faults.lose_answers > 0;
        faults.lose_answers = faults.lose_answers.saturating_sub(1);
        lost
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn switches_are_merged_and_unknown_ones_refused() {
        let switches = Switches::new();
        switches.change(|faults| faults.unhealthy = true);
        let merged = switches
            .merge(&json!({"download": {"status": 404}, "hold": [6]}))
            .unwrap();
        assert_eq!(merged.download, Some(DownloadFault::Status(404)));
        assert!(merged.unhealthy && switches.holds(6));
        assert!(switches.merge(&json!({"nonsense": 1})).is_err());
    }

    #[test]
    fn a_download_fault_heals_after_its_times() {
        let switches = Switches::new();
        switches.set(Faults {
            download: Some(DownloadFault::Html),
            download_times: Some(1),
            ..Faults::default()
        });
        assert!(switches.take_download().is_some());
        assert!(switches.take_download().is_none());
    }
}
