//! Who wrote which part of the present content of a document, whether it is in a log or in a file.

use domain::document::EditorMode;
use domain::document_kind::{EditorKind, FileExtension};
use domain::id::{DocumentId, SubmissionDocumentId};
use domain::save::RevisionOrigin;
use domain::user::Person;
use rich_text::AuthoredText;

use super::log_save::report;
use super::{DocumentWorkflows, word_file};
use crate::actions::authorship::{self, AuthoredContent};
use common::error::{Error, Result};
use db::documents::{CurrentFile, VisibleDocument};
use db::{ReadTx, RequestContext};

/// The text of a document with its authors.
#[derive(Debug, Clone)]
pub struct DocumentAuthorship {
    /// `None` if the authors of a submission were not recorded.
    pub text: Option<AuthoredText>,
    /// The authors that are still known.
    pub people: Vec<Person>,
}

/// Where the authors of the present content are found.
enum AuthorshipSource {
    /// In the log that the file was written from.
    Log(AuthoredContent),
    /// The file came from elsewhere; its text is compared with the newest log.
    File(CurrentFile, Option<AuthoredContent>),
}

impl DocumentWorkflows {
    /// Returns who wrote which part of a document, or of its copy in a submission. Only for staff of the class.
    pub async fn document_authorship(
        &self,
        context: RequestContext,
        id: DocumentId,
        copy: Option<SubmissionDocumentId>,
    ) -> Result<DocumentAuthorship> {
        let (workflows, document) = (self.clone(), id.clone());
        let look = self.transactor.read(context.clone(), move |tx| {
            let seen = tx.document(&document)?;
            check_staff(tx, &seen)?;
            workflows.check_editor(&seen)?;
            copy.map(|copy| tx.submitted_authorship(&copy, &document)).transpose()
        });
        let text = if let Some(stored) = look.await? {
            stored.map(|text| serde_json::from_str(&text)).transpose()?
        } else {
            // A save records the contributions of authors who just began.
            report(&id, self.save_changes(&context, &id).await.map(drop));
            Some(self.authored_text(&context, &id).await?)
        };
        let people = self.transactor.read(context, move |tx| tx.contributors(&id));
        Ok(DocumentAuthorship {
            text,
            people: people.await?,
        })
    }

    /// Returns the present text of a document with its authors.
    async fn authored_text(&self, context: &RequestContext, id: &DocumentId) -> Result<AuthoredText> {
        let document = id.clone();
        let look = self
            .transactor
            .read(context.clone(), move |tx| find_source(tx, &document));
        match look.await? {
            AuthorshipSource::Log(authored) => word_file::run(move || Ok(authored.text())).await,
            AuthorshipSource::File(file, former) => {
                let content = self.read_word_file(&file).await?.content;
                word_file::run(move || Ok(authorship::inherited(former.as_ref(), &content).text_of(&content))).await
            }
        }
    }

    /// Returns the text of a document for its submission, as JSON. `None` for other kinds of files, and if it fails:
    /// nothing prevents a submission.
    pub(super) async fn authorship_for_submission(
        &self,
        context: &RequestContext,
        seen: &VisibleDocument,
    ) -> Option<String> {
        let document = seen.document();
        if self.server.editor_kind(document) != EditorKind::Builtin || document.file_extension != FileExtension::Docx {
            return None;
        }
        match self.authored_text(context, &document.id).await {
            Ok(text) => serde_json::to_string(&text).ok(),
            Err(error) => {
                tracing::warn!(error = format!("{error:?}"), document.id = %document.id, "authorship of a submission is not known");
                None
            }
        }
    }
}

/// Only staff of the class see what each student wrote, as with the contributions of a group.
fn check_staff(tx: &mut ReadTx<'_>, seen: &VisibleDocument) -> Result<()> {
    let group = tx.group(&seen.group_context.group.id)?;
    if group.has_full_access {
        Ok(())
    } else {
        Err(Error::NotFound)
    }
}

fn find_source(tx: &mut ReadTx<'_>, id: &DocumentId) -> Result<AuthorshipSource> {
    let seen = tx.document(id)?;
    let (document, file) = (seen.document(), tx.current_file(seen.document())?);
    let present = document.key().generation;
    let Some(latest) = tx.latest_log(id)? else {
        return Ok(AuthorshipSource::File(file, None));
    };
    let Some(log) = tx.document_log(id, latest)? else {
        return Ok(AuthorshipSource::File(file, None));
    };
    let authored = authorship::of_log(tx, &log)?;
    let is_written = matches!(&file, CurrentFile::Revision(revision)
        if revision.generation == latest && matches!(revision.origin, RevisionOrigin::Editor | RevisionOrigin::Forcesave));
    let is_open = latest == present && seen.mode() == EditorMode::Edit;
    Ok(if is_written || is_open {
        AuthorshipSource::Log(authored)
    } else {
        AuthorshipSource::File(file, Some(authored))
    })
}
