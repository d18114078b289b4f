//! Workflows that involve several transactions and the document server: saves, submissions with open editors,
//! finishing a topic, conversions, and recovery of forgotten saves. Each step is an action in its own transaction; no
//! transaction waits for the network, and an interruption leaves consistent rows.

mod authorship;
mod comments;
mod commit_lane;
mod conversion;
mod deleted_documents;
mod document_editor;
mod download;
mod editor_access_revocation;
mod export;
mod late_commits;
mod lock;
mod log_packing;
mod log_save;
mod pdf_rendering;
mod reconcile;
mod save;
mod submit;
mod upload_conversion;
mod word_file;

use std::sync::Arc;

use domain::id::{DocumentId, UserId};

pub use self::authorship::DocumentAuthorship;
pub use self::comments::CommentList;
use self::commit_lane::CommitLane;
use self::conversion::Conversions;
pub use self::conversion::{ConversionInput, ConversionRequest, Pdf};
use self::document_editor::RecordedEditors;
pub use self::document_editor::{CommitList, EditorContent};
pub use self::save::CallbackReply;
pub use self::submit::{FinishResult, SubmitResult};
pub use self::word_file::{Picture, PictureContent};
use crate::changes::Transactor;
use adapters::blob_store::BlobStore;
use adapters::onlyoffice::DocumentServer;
use common::clock;
use common::error::Result;
use common::fair_queue::FairSemaphore;
use db::platform::CrossTenantReason;
use db::tenant_hint::TenantHints;
use db::{ReadTx, RequestContext, Tenant};

/// The dependencies of the workflows. Clones share the same state.
#[derive(Clone)]
pub struct DocumentWorkflows {
    transactor: Transactor,
    files: BlobStore,
    server: DocumentServer,
    conversions: Arc<Conversions>,
    commits: CommitLane,
    editors: Arc<RecordedEditors>,
    /// Held while a commit is mapped over many others, so that at most one of a batch takes long.
    mapping: FairSemaphore<UserId>,
    tenant_hints: TenantHints,
}

impl DocumentWorkflows {
    /// Must be called within a tokio runtime, because it starts the task that appends commits.
    pub fn new(transactor: Transactor, files: BlobStore, server: DocumentServer) -> Self {
        Self {
            commits: CommitLane::start(transactor.clone()),
            editors: Arc::default(),
            mapping: FairSemaphore::new(1, 1),
            transactor,
            files,
            server,
            conversions: Arc::default(),
            tenant_hints: TenantHints::default(),
        }
    }

    /// Returns the context of the document server for a document: the organization of the document.
    pub async fn resolve_context(&self, document: &DocumentId) -> Result<RequestContext> {
        Ok(self.read_in_document_tenant(document, |_| Ok(())).await?.0)
    }

    /// Like [`Self::resolve_context`], and reads in that context in the same round trip.
    pub async fn read_in_document_tenant<T: Send + 'static>(
        &self,
        document: &DocumentId,
        look: impl FnOnce(&mut ReadTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<(RequestContext, T)> {
        let (line, id) = (self.tenant_hints.get(document.as_str()), document.clone());
        let found = self
            .transactor
            .platform_read_for(line, CrossTenantReason::DocumentServer, move |platform| {
                let context = context(platform.tenant_of_document(&id)?);
                let seen = platform.read_in_tenant(context.clone(), look)?;
                Ok((context, seen))
            });
        let (context, seen) = found.await?;
        self.tenant_hints.record(document.as_str(), context.tenant.id());
        Ok((context, seen))
    }
}

/// Returns the context of the document server: read access to all documents of an organization, no acting user.
fn context(tenant: Tenant) -> RequestContext {
    RequestContext::for_service(tenant, "Document server", clock::now())
}
