//! Fault injection: settings that make the simulator fail like a real document server, changeable at runtime. This
//! module only stores them; the code that fails reads them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;

/// A fault of the download of a result file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DownloadFault {
    /// The first byte is delayed by this many milliseconds.
    Slow(u64),
    /// The connection is closed after half of the announced bytes.
    Truncated,
    /// An HTML page with status 200.
    Html,
    /// An error page with this status; 302 redirects to another URL of the simulator.
    Status(u16),
    /// The file, followed by zeros up to this size in bytes.
    Oversized(u64),
    /// An endless body.
    Endless,
}

/// How the second copy of a callback is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DuplicateDelivery {
    /// After the response to the first.
    Sequential,
    /// Concurrently with the first.
    Parallel,
}

/// How the whole server is unavailable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outage {
    /// Connections are refused and open ones reset; ended only by [`FaultInjector`]. A mounted router returns 503
    /// instead.
    Refuse,
    /// Every request outside `/practice` returns 503.
    Unavailable,
}

/// A delayed callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallbackDelay {
    /// The delayed status; every status if unset.
    #[serde(default)]
    pub status: Option<u8>,
    /// Delay in milliseconds; not scaled.
    pub milliseconds: u64,
}

/// All faults. The default is a healthy server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is one switch")]
pub struct Faults {
    /// The fault of downloads of result files.
    pub download: Option<DownloadFault>,
    /// Number of downloads that fail before the fault ends. All fail if unset.
    pub download_times: Option<u32>,
    /// Delays callbacks.
    pub slow_callback: Option<CallbackDelay>,
    /// Sends callbacks with status 2 and 6 twice.
    pub duplicate: Option<DuplicateDelivery>,
    /// Callbacks with these statuses are held until released; others overtake them.
    pub hold: Vec<u8>,
    /// Number of callbacks that are delivered but whose response is lost; the simulator treats it as a missing
    /// response.
    #[serde(rename = "loseAnswers")]
    pub lost_responses: u32,
    /// Host of `url`, `changesurl` and `fileUrl`, as after a spoofed `X-Forwarded-Host`.
    pub foreign_host: Option<String>,
    /// The `filetype` of callbacks, whatever the bytes are.
    pub wrong_filetype: Option<String>,
    /// Saves cannot be assembled: status 3 and 7 instead of 2 and 6.
    pub assembly_fails: bool,
    /// Status 3 carries the `url` of a damaged result.
    pub partial_result: bool,
    /// Every result overwrites the previous one. On the real server the name of a result ends in a random number of
    /// four digits, which repeats in a long session.
    pub reuses_result_names: bool,
    /// Number of generated entries added to `history`, to simulate long sessions.
    pub history_padding: usize,
    /// Final saves are not sent but put into forgotten storage.
    pub forgets_saves: bool,
    /// Makes the whole server unavailable.
    pub down: Option<Outage>,
    /// `forcesave` returns this error code and does nothing.
    #[serde(rename = "forcesaveAnswer")]
    pub forcesave_response: Option<i64>,
    /// Clients keep typing after `drop`.
    pub ignores_drop: bool,
    /// Editors send typed text only every so many milliseconds (2,000 on the real server) and lose unsent text when
    /// their page removes them. Applies to editors opened after the change. If unset, text is sent at once.
    pub autosave_gap: Option<u64>,
    /// Additional milliseconds to assemble a forced save; not scaled. If the session ends meanwhile, the result is
    /// dropped.
    pub forced_assembly: u64,
    /// Every command returns this error code.
    pub command_error: Option<i64>,
    /// Delay of command responses in milliseconds; not scaled.
    pub command_delay: u64,
    /// Limits `command_error` and `command_delay` to keys that contain this text. All keys if unset.
    pub command_key: Option<String>,
    /// `/healthcheck` returns `false` with status 200.
    pub unhealthy: bool,
    /// Conversions fail with this error code.
    pub conversion_error: Option<i64>,
    /// Number of conversions that fail before the fault ends. All fail if unset.
    pub conversion_error_times: Option<u32>,
    /// Conversions do not finish until the fault ends.
    pub conversion_hangs: bool,
    /// Number of polls that return "not finished" before an asynchronous conversion reports its result.
    pub conversion_polls: u32,
}

struct FaultState {
    faults: Mutex<Faults>,
    down: watch::Sender<Option<Outage>>,
    released: watch::Sender<u64>,
    held: watch::Sender<usize>,
}

/// Counts a held callback until it is dropped, also when a crash cancels it.
struct HeldGuard<'s>(&'s watch::Sender<usize>);

impl Drop for HeldGuard<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// Shared handle to the faults of a simulator.
#[derive(Clone)]
pub struct FaultInjector(Arc<FaultState>);

impl FaultInjector {
    pub(crate) fn new() -> Self {
        Self(Arc::new(FaultState {
            faults: Mutex::new(Faults::default()),
            down: watch::Sender::new(None),
            released: watch::Sender::new(0),
            held: watch::Sender::new(0),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Faults> {
        self.0.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the present faults.
    pub fn get(&self) -> Faults {
        self.lock().clone()
    }

    /// Replaces all faults.
    pub fn set(&self, faults: Faults) {
        self.0.down.send_replace(faults.down);
        *self.lock() = faults;
    }

    /// Changes some faults and keeps the others.
    pub fn update(&self, update: impl FnOnce(&mut Faults)) {
        let mut faults = self.lock();
        update(&mut faults);
        self.0.down.send_replace(faults.down);
    }

    /// Takes the error with which the next conversion fails.
    pub(crate) fn take_conversion_error(&self) -> Option<i64> {
        let mut faults = self.lock();
        let error = faults.conversion_error?;
        match &mut faults.conversion_error_times {
            Some(0) => return None,
            Some(times) => *times -= 1,
            None => {}
        }
        Some(error)
    }

    /// Removes all faults and releases held callbacks.
    pub fn clear(&self) {
        self.set(Faults::default());
        self.release();
    }

    /// Releases the callbacks that are held now. Later ones with a held status are held again.
    pub fn release(&self) {
        self.0.released.send_modify(|count| *count += 1);
    }

    /// Waits until this many callbacks are held. A release before that would miss them.
    pub async fn wait_until_held(&self, callbacks: usize) {
        let mut held = self.0.held.subscribe();
        let _never_closed = held.wait_for(|count| *count >= callbacks).await;
    }

    /// Sets the fields named in `part` and keeps the others.
    pub(crate) fn merge(&self, part: &Value) -> Result<Faults, serde_json::Error> {
        let mut whole = serde_json::to_value(self.get())?;
        if let (Some(whole), Some(part)) = (whole.as_object_mut(), part.as_object()) {
            whole.extend(part.clone());
        }
        let faults: Faults = serde_json::from_value(whole)?;
        self.set(faults.clone());
        Ok(faults)
    }

    pub(crate) fn down(&self) -> watch::Receiver<Option<Outage>> {
        self.0.down.subscribe()
    }

    /// Waits while callbacks of this status are held.
    pub(crate) async fn wait_while_held(&self, status: u8) {
        let mut released = self.0.released.subscribe();
        let before = *released.borrow_and_update();
        if self.is_held(status) {
            self.0.held.send_modify(|count| *count += 1);
            let _held = HeldGuard(&self.0.held);
            let _gone = released.wait_for(|count| *count > before).await;
        }
    }

    pub(crate) fn is_held(&self, status: u8) -> bool {
        self.lock().hold.contains(&status)
    }

    /// Returns the fault of the next download and decrements its count.
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

    /// Returns whether the response to this callback is lost, and decrements the count.
    pub(crate) fn take_lost_response(&self) -> bool {
        let mut faults = self.lock();
        let lost = faults.lost_responses > 0;
        faults.lost_responses = faults.lost_responses.saturating_sub(1);
        lost
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn faults_are_merged_and_unknown_fields_rejected() {
        let injector = FaultInjector::new();
        injector.update(|faults| faults.unhealthy = true);
        let merged = injector
            .merge(&json!({"download": {"status": 404}, "hold": [6]}))
            .unwrap();
        assert_eq!(merged.download, Some(DownloadFault::Status(404)));
        assert!(merged.unhealthy && injector.is_held(6));
        assert!(injector.merge(&json!({"nonsense": 1})).is_err());
    }

    #[test]
    fn download_fault_ends_after_count() {
        let injector = FaultInjector::new();
        injector.set(Faults {
            download: Some(DownloadFault::Html),
            download_times: Some(1),
            ..Faults::default()
        });
        assert!(injector.take_download().is_some());
        assert!(injector.take_download().is_none());
    }
}
