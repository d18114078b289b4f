//! Disconnects users from editors of documents that they lost access to. The signals of a change name the candidates;
//! whether they may still read is checked against the store, so a wrong candidate costs a query but never disconnects
//! a user who has access.

use domain::access::{PlatformRole, effective_role};
use domain::id::{DocumentId, UserId};
use tokio::sync::mpsc;

use super::{DocumentWorkflows, context};
use common::error::{Error, Result};
use db::{RequestContext, Tenant};
use realtime::bus::AccessRevoked;

impl DocumentWorkflows {
    /// Disconnects editors as long as changes are received; nothing is to be done without a document server.
    pub async fn revoke_access_of(self, mut revoked: mpsc::UnboundedReceiver<AccessRevoked>) {
        while let Some(revocation) = revoked.recv().await
            && self.server.is_configured()
        {
            self.revoke_access_or_log(revocation).await;
        }
    }

    /// Checks whether these editors may still read their documents. An editor configuration is valid for minutes, and
    /// its user may have left the group or the organization since.
    pub(super) fn check_editors(&self, tenant: Tenant, people: Vec<UserId>) {
        if people.is_empty() {
            return;
        }
        let workflows = self.clone();
        tokio::spawn(async move {
            workflows
                .revoke_access_or_log(AccessRevoked::Users { tenant, users: people })
                .await;
        });
    }

    async fn revoke_access_or_log(&self, revocation: AccessRevoked) {
        if let Err(error) = self.revoke_access(revocation).await {
            tracing::warn!(error = format!("{error:?}"), "access check of open editors failed");
        }
    }

    async fn revoke_access(&self, revocation: AccessRevoked) -> Result<()> {
        let (tenant, people) = match revocation {
            AccessRevoked::Users { tenant, users: people } => (tenant, people),
            AccessRevoked::DocumentsDeleted => return self.close_deleted().await,
        };
        let service_context = context(tenant);
        let candidates = people.clone();
        let open = self
            .transactor
            .read(service_context.clone(), move |tx| tx.sessions_edited_by(&candidates))
            .await?;
        for session in open {
            let mut without_access = Vec::new();
            for editor in session.editors.iter().filter(|editor| people.contains(editor)) {
                if !self.can_read(&service_context, editor, &session.document_id).await? {
                    without_access.push(editor.clone());
                }
            }
            if !without_access.is_empty() {
                self.server.drop_users(&session.document_key, &without_access).await?;
                tracing::info!(document.id = %session.document_id, people = without_access.len(), "editors disconnected: access lost");
            }
        }
        Ok(())
    }

    /// Returns whether a user may read a document now, with the same check as for requests.
    async fn can_read(&self, service_context: &RequestContext, person: &UserId, document: &DocumentId) -> Result<bool> {
        let user = person.clone();
        let role = self
            .transactor
            .read(service_context.clone(), move |tx| tx.current_role(&user))
            .await?;
        let Some(viewer) = effective_role(PlatformRole::Student, role).viewer(person.clone()) else {
            return Ok(false);
        };
        let (seen, id) = (
            RequestContext {
                viewer,
                ..service_context.clone()
            },
            document.clone(),
        );
        match self.transactor.read(seen, move |tx| tx.document(&id)).await {
            Ok(_) => Ok(true),
            Err(Error::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
