//! Final saves after the last editor disconnected, forced saves during a session, and what the responses mean for the
//! document. Delivery is in `callback`.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::{
    blank,
    callback::{CallbackDelivery, OutgoingCallback, deliver},
    clock,
    connections::enqueue,
    editor_config::ConfiguredUser,
    ooxml::{self, DocumentKind},
    results,
    session::{ForcedSave, ForcedSaveState, LastChange, SessionMember, SessionPhase, SharedSession},
    simulator::{ForgottenFile, Simulator},
};

/// Time to assemble a file.
const ASSEMBLY_DELAY: Duration = Duration::from_millis(300);

/// The release whose behaviour is simulated.
pub(crate) const SERVER_VERSION: &str = "9.3.1";

/// An assembled result: the paths of the file and of the list of changes.
#[derive(Clone)]
pub(crate) struct AssembledFile {
    file: String,
    changes: Option<String>,
    bytes: Bytes,
}

/// What triggered a forced save.
#[derive(Clone)]
pub(crate) enum ForceSaveTrigger {
    /// A command of another server, with its user data.
    Command(Option<Value>),
    /// The save button of this user.
    Button(ConfiguredUser),
}

impl ForceSaveTrigger {
    fn kind(&self) -> u8 {
        match self {
            Self::Command(_) => 0,
            Self::Button(_) => 1,
        }
    }
}

/// The state of a session at the time of a save.
struct SaveSnapshot {
    key: String,
    kind: DocumentKind,
    source: Bytes,
    lines: Vec<String>,
    history: Vec<(ConfiguredUser, u64)>,
    from_forgotten: bool,
    revision: u64,
    last: LastChange,
    to: Option<String>,
}

impl SaveSnapshot {
    fn of(session: &SharedSession) -> Option<Self> {
        let last = session.last_change.clone()?;
        Some(Self {
            key: session.key.clone(),
            kind: session.kind,
            source: session.source.clone(),
            lines: session.current_lines(),
            history: session.history.clone(),
            from_forgotten: session.from_forgotten,
            revision: session.revision,
            to: session.callback_url_of(&last.user),
            last,
        })
    }

    fn file_type(&self) -> &'static str {
        self.kind.extension()
    }
}

impl Simulator {
    /// Starts the final save of a session after its last editor disconnected.
    pub(crate) fn start_final_save(
        &self,
        session: &mut SharedSession,
        last_editor: &SessionMember,
    ) -> oneshot::Receiver<CallbackDelivery> {
        let (done, receiver) = oneshot::channel();
        let Some(snapshot) = SaveSnapshot::of(session) else {
            return receiver;
        };
        session.phase = SessionPhase::Saving;
        session.notify();
        let unchanged = session
            .forced
            .as_ref()
            .is_some_and(|forced| forced.status == ForcedSaveState::Accepted && forced.revision == session.revision);
        let callback_queue = session.callback_queue.clone();
        let last_editor = last_editor.clone();
        let simulator = self.clone();
        self.spawn(async move {
            tokio::time::sleep(simulator.settings().scaled(ASSEMBLY_DELAY)).await;
            let faults = simulator.faults().get();
            let assembled = simulator.assemble(&snapshot).await;
            let status = if assembled.is_some() && !faults.assembly_fails {
                2
            } else {
                3
            };
            let shown = assembled.clone().filter(|_| status == 2 || faults.partial_result);
            let callback = OutgoingCallback::new(&snapshot.key, status, snapshot.to.clone());
            let callback = simulator
                .add_save_fields(callback, &snapshot, shown.as_ref(), &last_editor.origin)
                .action(0, &last_editor.user.id)
                .with("notmodified", unchanged);
            let delivery = if faults.forgets_saves {
                CallbackDelivery {
                    status,
                    accepted: false,
                }
            } else {
                let Ok(delivery) = enqueue(&callback_queue, callback).await else {
                    return;
                };
                delivery
            };
            simulator.apply_final_result(&snapshot, assembled, delivery.status, delivery.accepted);
            let _receiver_dropped = done.send(delivery);
        });
        receiver
    }

    /// Applies the response to a final save to the session.
    fn apply_final_result(
        &self,
        snapshot: &SaveSnapshot,
        assembled: Option<AssembledFile>,
        status: u8,
        accepted: bool,
    ) {
        let mut state = self.state();
        match (status, accepted) {
            (2, true) => {
                if let Some(forgotten) = state.forgotten.remove(&snapshot.key) {
                    self.results().remove(&forgotten.path);
                }
                if let Some(session) = state.sessions.get_mut(&snapshot.key) {
                    session.phase = SessionPhase::Finished;
                    session.notify();
                }
            }
            (2, false) => {
                if let Some(assembled) = assembled {
                    let name = format!("output.{}", snapshot.file_type());
                    let folder = format!("forgotten/{}", snapshot.key);
                    let path = self.results().put(&folder, &name, assembled.bytes.clone());
                    let forgotten = ForgottenFile {
                        bytes: assembled.bytes,
                        file_type: snapshot.file_type(),
                        path,
                    };
                    state.forgotten.insert(snapshot.key.clone(), forgotten);
                }
                remove_session(&mut state.sessions, &snapshot.key);
            }
            // A failed save that is acknowledged loses the changes for good.
            (_, true) => remove_session(&mut state.sessions, &snapshot.key),
            (_, false) => {
                if let Some(session) = state.sessions.get_mut(&snapshot.key) {
                    session.phase = SessionPhase::Live;
                    session.notify();
                }
            }
        }
    }

    /// Starts a forced save during the session. Returns the error code of the command.
    pub(crate) fn force_save(&self, key: &str, trigger: ForceSaveTrigger) -> i64 {
        if let Some(answer) = self.faults().get().forcesave_response {
            return answer;
        }
        let mut state = self.state();
        let Some(session) = state.sessions.get_mut(key) else {
            return 1;
        };
        match session.phase {
            SessionPhase::Finished => return 1,
            SessionPhase::Saving => return 3,
            SessionPhase::Live => {}
        }
        if session.restarted_at == Some(session.revision) {
            return 4;
        }
        let Some(mut snapshot) = SaveSnapshot::of(session) else {
            return 4;
        };
        let before = session
            .forced
            .take()
            .filter(|forced| forced.revision == session.revision);
        if before
            .as_ref()
            .is_some_and(|forced| forced.status == ForcedSaveState::Accepted)
        {
            session.forced = before;
            return 4;
        }
        // A forced save that was rejected is sent again with the same file.
        let previous = before.and_then(|forced| forced.assembled);
        session.forced = Some(ForcedSave {
            revision: session.revision,
            assembled: previous.clone(),
            status: ForcedSaveState::Pending,
        });
        if let ForceSaveTrigger::Button(user) = &trigger {
            snapshot.to = session.callback_url_of(user);
        }
        let simulator = self.clone();
        self.spawn(async move { simulator.run_forced_save(snapshot, trigger, previous).await });
        0
    }

    async fn run_forced_save(
        &self,
        snapshot: SaveSnapshot,
        trigger: ForceSaveTrigger,
        previous: Option<AssembledFile>,
    ) {
        let faults = self.faults().get();
        tokio::time::sleep(self.settings().scaled(ASSEMBLY_DELAY) + Duration::from_millis(faults.forced_assembly))
            .await;
        if faults.forced_assembly > 0 && !self.is_live(&snapshot.key) {
            // All editors disconnected during assembly: the result is dropped without a callback, and only the final
            // save is sent.
            self.update_forced_save(&snapshot.key, snapshot.revision, |forced| {
                forced.status = ForcedSaveState::Rejected;
            });
            return;
        }
        let assembled = match previous {
            Some(assembled) => Some(assembled),
            None => self.assemble(&snapshot).await,
        };
        let assembled = assembled.filter(|_| !faults.assembly_fails);
        // Recorded before sending: a concurrent forced save reuses the file.
        self.update_forced_save(&snapshot.key, snapshot.revision, |forced| {
            forced.assembled.clone_from(&assembled);
        });
        let status = if assembled.is_some() { 6 } else { 7 };
        let origin = snapshot.last.origin.clone();
        let callback = OutgoingCallback::new(&snapshot.key, status, snapshot.to.clone());
        let mut callback = self
            .add_save_fields(callback, &snapshot, assembled.as_ref(), &origin)
            .with("notmodified", false)
            .with("forcesavetype", trigger.kind());
        match &trigger {
            ForceSaveTrigger::Command(Some(userdata)) => callback = callback.with("userdata", userdata.clone()),
            ForceSaveTrigger::Command(None) => {}
            ForceSaveTrigger::Button(user) => callback = callback.action(2, &user.id),
        }
        callback.forced_revision = Some(snapshot.revision);
        if callback.to.is_none() {
            self.apply_forced_result(&callback, false);
        }
        deliver(self, callback).await;
    }

    /// Applies the response to a forced save to the session. A save that is sent twice is accepted if one of both is.
    pub(crate) fn apply_forced_result(&self, callback: &OutgoingCallback, accepted: bool) {
        let Some(revision) = callback.forced_revision else {
            return;
        };
        self.update_forced_save(&callback.key, revision, |forced| {
            if callback.status == 6 && accepted {
                forced.status = ForcedSaveState::Accepted;
            } else if forced.status == ForcedSaveState::Pending {
                forced.status = ForcedSaveState::Rejected;
            }
        });
    }

    fn is_live(&self, key: &str) -> bool {
        let state = self.state();
        state
            .sessions
            .get(key)
            .is_some_and(|session| session.phase == SessionPhase::Live)
    }

    /// Updates the forced save of this revision unless a newer one replaced it.
    fn update_forced_save(&self, key: &str, revision: u64, update: impl FnOnce(&mut ForcedSave)) {
        let mut state = self.state();
        let forced = state.sessions.get_mut(key).and_then(|session| session.forced.as_mut());
        if let Some(forced) = forced.filter(|forced| forced.revision == revision) {
            update(forced);
        }
    }

    /// Assembles the file and the list of changes and stores both as results.
    async fn assemble(&self, snapshot: &SaveSnapshot) -> Option<AssembledFile> {
        let (source, lines) = (snapshot.source.clone(), snapshot.lines.clone());
        let written = tokio::task::spawn_blocking(move || ooxml::write(&source, &lines)).await;
        let bytes: Bytes = written.ok()?.ok()?.into();
        let folder = if self.faults().get().reuses_result_names {
            format!("data/{}_0000", snapshot.key)
        } else {
            self.results().find_unused_folder(&snapshot.key)
        };
        let name = format!("output.{}", snapshot.file_type());
        let file = self.results().put(&folder, &name, bytes.clone());
        let changes = (!snapshot.from_forgotten).then(|| {
            let changes = json!(snapshot.lines).to_string();
            let archive = blank::write_archive(&[("changes0.json", changes)]);
            self.results().put(&folder, "changes.zip", archive.into())
        });
        Some(AssembledFile { file, changes, bytes })
    }

    /// Adds the fields that all saves have.
    fn add_save_fields(
        &self,
        callback: OutgoingCallback,
        snapshot: &SaveSnapshot,
        assembled: Option<&AssembledFile>,
        origin: &str,
    ) -> OutgoingCallback {
        let faults = self.faults().get();
        let mut callback = callback;
        if let Some(assembled) = assembled {
            let name = format!("output.{}", snapshot.file_type());
            callback = callback.with("url", results::signed_url(self, &assembled.file, origin, &name));
            if let Some(changes) = &assembled.changes {
                callback = callback.with("changesurl", results::signed_url(self, changes, origin, "changes.zip"));
            }
            callback = callback.with("history", history(snapshot, faults.history_padding));
        }
        let file_type = faults.wrong_filetype.unwrap_or_else(|| snapshot.file_type().to_owned());
        callback
            .with("users", vec![snapshot.last.user.id.clone()])
            // Whole seconds, as on the real server.
            .with("lastsave", clock::iso(snapshot.last.at / 1000 * 1000))
            .with("filetype", file_type)
    }
}

fn history(snapshot: &SaveSnapshot, padding: usize) -> Value {
    if snapshot.from_forgotten {
        return json!({});
    }
    let padded = snapshot
        .history
        .iter()
        .chain(snapshot.history.iter().cycle().take(padding));
    let changes: Vec<Value> = padded
        .map(|(user, at)| {
            json!({
                "created": clock::plain(*at),
                "user": {"id": user.id, "name": user.name},
                "documentSha256": format!("{:064x}", snapshot.revision),
            })
        })
        .collect();
    json!({"serverVersion": SERVER_VERSION, "changes": changes})
}

fn remove_session(sessions: &mut std::collections::HashMap<String, SharedSession>, key: &str) {
    if let Some(session) = sessions.remove(key) {
        session.notify();
    }
}
