//! Connecting to a session, disconnecting and reconnecting, and the callbacks that follow.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::{
    blank,
    callback::{self, CallbackDelivery, OutgoingCallback, QueuedCallback},
    editor_config::{self, EditorConfig, EditorError},
    ooxml::DocumentError,
    session::{SessionMember, SessionPhase, SharedSession},
    simulator::{Simulator, SimulatorState},
};

/// How long a session without editors waits for a lost connection before it is saved.
const SAVE_DELAY: Duration = Duration::from_secs(5);
/// Number of attempts to download a document, and the delay between them.
const DOWNLOADS: usize = 3;
const DOWNLOAD_PAUSE: Duration = Duration::from_secs(1);
/// Maximum size of a downloaded document in bytes.
const DOWNLOAD_LIMIT: usize = 100 << 20;

/// The response to an open request.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenedEditor {
    /// Id of the connection.
    pub connection: String,
    /// `edit` or `view`. Opening as a viewer instead of an editor is not an error.
    pub mode: String,
    pub title: String,
    /// The text, one entry per paragraph.
    pub lines: Vec<String>,
    /// Revision of `lines`; must be sent with edits.
    pub revision: u64,
    /// The key was already saved; the old content is shown and a new configuration is needed.
    pub update_version: bool,
    /// Contains -201 when the document was opened from forgotten storage.
    pub warnings: Vec<i64>,
    /// Milliseconds between two transmissions of typed text; without it text is sent at once.
    #[serde(default)]
    pub autosave_gap: Option<u64>,
}

/// How a connection ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Disconnect {
    /// By a close request.
    Clean,
    /// By a network failure.
    Lost,
}

impl Simulator {
    /// Opens an editor with the configuration of a page; `origin` is the base URL of the simulator as seen by the page.
    pub(crate) async fn open(&self, page: &Value, origin: String) -> Result<OpenedEditor, EditorError> {
        let config = editor_config::parse(page, self.tokens())?;
        let lock_of_key = Arc::clone(self.state().opening.entry(config.key.clone()).or_default());
        let _one_at_a_time = lock_of_key.lock().await;
        if !self.state().sessions.contains_key(&config.key) {
            let session = match self.create_session(&config).await {
                Ok(session) => session,
                Err(error) => {
                    self.report_failed_open(&config);
                    return Err(error);
                }
            };
            self.state().sessions.insert(config.key.clone(), session);
        }
        Ok(self.add_member(&mut self.state(), &config, origin))
    }

    /// Creates the session from forgotten storage, or else by downloading the document.
    async fn create_session(&self, config: &EditorConfig) -> Result<SharedSession, EditorError> {
        let forgotten = self
            .state()
            .forgotten
            .get(&config.key)
            .map(|forgotten| forgotten.bytes.clone());
        let from_forgotten = forgotten.is_some();
        let bytes = match forgotten {
            Some(bytes) => bytes,
            None => self
                .download(&config.url)
                .await
                .ok_or_else(|| EditorError::new(-81, "the document could not be downloaded"))?,
        };
        let bytes = if bytes.is_empty() {
            blank::document(&config.file_type).into()
        } else {
            bytes
        };
        SharedSession::new(config, bytes, from_forgotten, callback::start_queue(self)).map_err(|error| match error {
            DocumentError::TooLarge => EditorError::new(-93, "the document is too large"),
            _ => EditorError::new(-82, "the document could not be read"),
        })
    }

    /// Downloads a document with a token that is valid for this URL only.
    pub(crate) async fn download(&self, url: &str) -> Option<Bytes> {
        let settings = self.settings();
        for attempt in 0..DOWNLOADS {
            if attempt > 0 {
                tokio::time::sleep(settings.scaled(DOWNLOAD_PAUSE)).await;
            }
            let token = format!("{}{}", settings.token_prefix, self.tokens().sign_download(url));
            let request = self.http().get(url).header(&settings.token_header, token);
            let Ok(response) = request.timeout(Duration::from_mins(2)).send().await else {
                continue;
            };
            if response.status() != 200 {
                continue;
            }
            if let Ok(bytes) = response.bytes().await
                && bytes.len() <= DOWNLOAD_LIMIT
            {
                return Some(bytes);
            }
        }
        None
    }

    /// Reports a connect and a disconnect for an editor whose document could not be downloaded.
    fn report_failed_open(&self, config: &EditorConfig) {
        if !config.edit {
            return;
        }
        let callback_queue = callback::start_queue(self);
        let user = config.user.id.as_str();
        let callback = |status| OutgoingCallback::new(&config.key, status, config.callback_url.clone());
        enqueue(
            &callback_queue,
            callback(1).with("users", vec![user.to_owned()]).action(1, user),
        );
        enqueue(&callback_queue, callback(4).action(0, user));
    }

    fn add_member(&self, state: &mut SimulatorState, config: &EditorConfig, origin: String) -> OpenedEditor {
        let has_capacity = state.editors() < self.settings().connection_limit;
        let id = format!("{:032x}", rand::random::<u128>());
        state.keys.insert(id.clone(), config.key.clone());
        let session = state
            .sessions
            .get_mut(&config.key)
            .expect("the session was just opened");
        let edit = config.edit && has_capacity && session.phase == SessionPhase::Live;
        session.members.push(SessionMember {
            id: id.clone(),
            user: config.user.clone(),
            edit,
            present: true,
            lost: false,
            dropped: None,
            origin,
        });
        if edit {
            session.set_callback_url(&config.user, config.callback_url.as_ref());
            send_join_callback(session, &config.user.id);
        }
        session.notify();
        OpenedEditor {
            connection: id,
            mode: if edit { "edit" } else { "view" }.into(),
            title: session.title.clone(),
            lines: session.lines().to_vec(),
            revision: session.revision,
            update_version: session.phase != SessionPhase::Live,
            warnings: if session.from_forgotten { vec![-201] } else { Vec::new() },
            autosave_gap: self.faults().get().autosave_gap,
        }
    }

    /// Ends a connection. The receiver resolves when the callback that follows was delivered; none if no callback
    /// follows.
    pub(crate) fn disconnect(
        &self,
        connection: &str,
        disconnect: Disconnect,
    ) -> Option<oneshot::Receiver<CallbackDelivery>> {
        let mut state = self.state();
        let session = state.session_of(connection)?;
        self.disconnect_member(session, connection, disconnect)
    }

    fn disconnect_member(
        &self,
        session: &mut SharedSession,
        connection: &str,
        disconnect: Disconnect,
    ) -> Option<oneshot::Receiver<CallbackDelivery>> {
        let member = session
            .member(connection)
            .filter(|member| member.present || member.lost)?;
        let is_reconnecting = !member.present;
        if is_reconnecting && disconnect == Disconnect::Lost {
            return None;
        }
        member.present = false;
        member.lost = disconnect == Disconnect::Lost;
        let member = member.clone();
        session.notify();
        if !member.edit || session.phase != SessionPhase::Live {
            return None;
        }
        if session.editors().next().is_some() {
            if is_reconnecting {
                return None;
            }
            let callback = OutgoingCallback::new(&session.key, 1, session.callback_url_of(&member.user))
                .with("users", session.editor_ids())
                .action(0, &member.user.id);
            return Some(enqueue(&session.callback_queue, callback));
        }
        if disconnect == Disconnect::Clean {
            // A page that is closed loses its stream and sends a close request: the request ends the save delay.
            session.epoch += 1;
            return Some(self.end_session(session, &member));
        }
        let (simulator, key, epoch) = (self.clone(), session.key.clone(), session.epoch);
        self.spawn(async move {
            tokio::time::sleep(simulator.settings().scaled(SAVE_DELAY)).await;
            let mut state = simulator.state();
            if let Some(session) = state.sessions.get_mut(&key)
                && session.epoch == epoch
                && session.phase == SessionPhase::Live
            {
                simulator.end_session(session, &member);
            }
        });
        None
    }

    /// Ends a session without editors: a final save after changes, otherwise only a status callback.
    fn end_session(&self, session: &mut SharedSession, last: &SessionMember) -> oneshot::Receiver<CallbackDelivery> {
        if session.has_changes() {
            return self.start_final_save(session, last);
        }
        let callback =
            OutgoingCallback::new(&session.key, 4, session.callback_url_of(&last.user)).action(0, &last.user.id);
        enqueue(&session.callback_queue, callback)
    }

    /// Reconnects a browser after a network failure. After the end of the session it may only read.
    pub(crate) fn resume(&self, connection: &str) {
        let mut state = self.state();
        let Some(session) = state.session_of(connection) else {
            return;
        };
        let phase = session.phase;
        let Some(member) = session.member(connection) else {
            return;
        };
        if member.present || member.dropped.is_some() || (member.edit && phase != SessionPhase::Live) {
            return;
        }
        member.present = true;
        member.lost = false;
        let member = member.clone();
        if member.edit {
            send_join_callback(session, &member.user.id);
        }
        session.notify();
    }

    /// Returns whether the event stream of a connection stays open: it is connected, or may keep reading after a drop
    /// or a save.
    pub(crate) fn keeps_stream(&self, connection: &str) -> bool {
        let mut state = self.state();
        let Some(session) = state.session_of(connection) else {
            return true;
        };
        let phase = session.phase;
        session.member(connection).is_some_and(|member| {
            member.present || member.dropped.is_some() || (member.edit && phase != SessionPhase::Live)
        })
    }

    /// Makes editors read-only: all of them, or those of these users. Clients disconnect.
    pub(crate) fn drop_editors(&self, key: &str, users: Option<&[String]>) {
        if self.faults().get().ignores_drop {
            return;
        }
        let mut state = self.state();
        let Some(session) = state.sessions.get_mut(key) else {
            return;
        };
        let dropped: Vec<String> = session
            .members
            .iter()
            .filter(|member| member.present && member.edit)
            .filter(|member| users.is_none_or(|users| users.contains(&member.user.id)))
            .map(|member| member.id.clone())
            .collect();
        for connection in dropped {
            if let Some(member) = session.member(&connection) {
                member.dropped = Some("You have no access any more.".into());
            }
            self.disconnect_member(session, &connection, Disconnect::Clean);
        }
    }

    /// Ends all connections and pending callbacks; changes are kept.
    pub(crate) fn reset_after_crash(&self, state: &mut SimulatorState) {
        state.opening.clear();
        for session in state.sessions.values_mut() {
            for member in &mut session.members {
                member.present = false;
                member.lost = false;
            }
            if session.phase == SessionPhase::Saving {
                session.phase = SessionPhase::Live;
            }
            session.forced = None;
            session.restarted_at = Some(session.revision);
            session.epoch += 1;
            session.callback_queue = callback::start_queue(self);
            session.notify();
        }
    }
}

fn send_join_callback(session: &mut SharedSession, user: &str) {
    session.epoch += 1;
    let to = session
        .members
        .iter()
        .rev()
        .find(|member| member.user.id == user)
        .and_then(|member| session.callback_url_of(&member.user));
    let callback = OutgoingCallback::new(&session.key, 1, to)
        .with("users", session.editor_ids())
        .action(1, user);
    enqueue(&session.callback_queue, callback);
}

/// Enqueues a callback of a session.
pub(crate) fn enqueue(
    callback_queue: &tokio::sync::mpsc::UnboundedSender<QueuedCallback>,
    callback: OutgoingCallback,
) -> oneshot::Receiver<CallbackDelivery> {
    let (delivered, receiver) = oneshot::channel();
    // A closed queue means that the simulator crashed; the receiver is not awaited either.
    let _gone = callback_queue.send(QueuedCallback { callback, delivered });
    receiver
}
