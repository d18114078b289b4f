//! Disconnects users from editors of documents that they lost access to. The signals of a change name the candidates;
//! whether they may still read is checked against the store, so a wrong candidate costs a query but never disconnects
//! a user who has access.

use model::access::{PlatformRole, standing};
use model::id::{DocumentId, UserId};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::{Editing, standpoint};
use common::error::{Error, Result};
use db::{Standpoint, Tenant};
use realtime::bus::AccessRevoked;

impl Editing {
    /// Starts the task; it is aborted when the handle is dropped. Returns `None` if no document server is configured.
    pub fn start_sending_out(&self, mut told: mpsc::UnboundedReceiver<AccessRevoked>) -> Option<AbortOnDropHandle<()>> {
        if !self.server.is_configured() {
            return None;
        }
        let editing = self.clone();
        Some(AbortOnDropHandle::new(tokio::spawn(async move {
            while let Some(departure) = told.recv().await {
                if let Err(error) = editing.send_out(departure).await {
                    tracing::warn!(error = format!("{error:?}"), "access check of open editors failed");
                }
            }
        })))
    }

    /// Checks whether these editors may still read their documents. An editor configuration is valid for minutes, and
    /// its user may have left the group or the organization since.
    pub(super) fn check_editors(&self, tenant: Tenant, people: Vec<UserId>) {
        if people.is_empty() {
            return;
        }
        let editing = self.clone();
        tokio::spawn(async move {
            if let Err(error) = editing.send_out(AccessRevoked::Users { tenant, users: people }).await {
                tracing::warn!(error = format!("{error:?}"), "access check of open editors failed");
            }
        });
    }

    async fn send_out(&self, departure: AccessRevoked) -> Result<()> {
        let (tenant, people) = match departure {
            AccessRevoked::Users { tenant, users: people } => (tenant, people),
            AccessRevoked::DocumentsDeleted => return self.close_deleted().await,
        };
        let here = standpoint(tenant);
        let candidates = people.clone();
        let open = self
            .read(here.clone(), move |scope| scope.sessions_edited_by(&candidates))
            .await?;
        for session in open {
            let mut gone = Vec::new();
            for editor in session.editors.iter().filter(|editor| people.contains(editor)) {
                if !self.may_read(&here, editor, &session.document_id).await? {
                    gone.push(editor.clone());
                }
            }
            if !gone.is_empty() {
                self.server.drop_users(&session.document_key, &gone).await?;
                tracing::info!(document.id = %session.document_id, people = gone.len(), "editors disconnected: access lost");
            }
        }
        Ok(())
    }

    /// Returns whether a user may read a document now, with the same check as for requests.
    async fn may_read(&self, here: &Standpoint, person: &UserId, document: &DocumentId) -> Result<bool> {
        let user = person.clone();
        let role = self.read(here.clone(), move |scope| scope.present_role(&user)).await?;
        let Some(viewer) = standing(PlatformRole::Student, role).viewer(person.clone()) else {
            return Ok(false);
        };
        let (seen, id) = (Standpoint { viewer, ..here.clone() }, document.clone());
        match self.read(seen, move |scope| scope.document(&id)).await {
            Ok(_) => Ok(true),
            Err(Error::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
