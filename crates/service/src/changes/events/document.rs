//! Events of documents in work rooms.

use domain::change::{DocumentChange, DocumentStep, GroupDocument};
use domain::details::DocumentDetails;
use domain::document::Document;
use domain::group::GroupContext;
use domain::realtime::Event;
use domain::save::RevisionOrigin;

use super::event_builder::{EventBuilder, names};
use api_types::audience::Audience;
use api_types::document::DocumentFieldsView;
use api_types::event::{DocumentEvent, DocumentRef, DocumentStatusChanged};

pub fn emit(change: &DocumentChange, builder: &mut EventBuilder<'_>) {
    match change {
        DocumentChange::Changed {
            group_context,
            document,
            step,
        } => emit_step(group_context, document, step, builder),
        DocumentChange::RevisionsPruned { files: _ }
        // No event: the page of a deleted document polls while it is open.
        | DocumentChange::LateTextKept {
            document: _,
            text: _,
            is_replacement: _,
            files: _,
        } => {}
        DocumentChange::Deleted {
            group_context,
            document,
            files: _,
        } => {
            builder.emit_to_whole_group(group_context, Event::DocumentDeleted, reference(group_context, document));
        }
    }
}

fn emit_step(
    group_context: &GroupContext,
    document: &DocumentDetails,
    step: &DocumentStep,
    builder: &mut EventBuilder<'_>,
) {
    match step {
        DocumentStep::Created => emit_created(group_context, document, builder),
        DocumentStep::Updated(changed) => emit_updated(group_context, document, &names(changed), builder),
        DocumentStep::Replaced(_) => emit_updated(group_context, document, &["version", "size"], builder),
        // Without `changed`, which marks the event as a save: consecutive saves are merged before they are sent.
        DocumentStep::Saved(_) => builder.emit_to_group(group_context, Event::DocumentUpdated, |audience| {
            document_payload(document, None, audience)
        }),
        DocumentStep::SavedLate(revision) if revision.origin == RevisionOrigin::Late => {
            emit_updated(group_context, document, &["savedLate"], builder);
        }
        DocumentStep::SavedLate(_) => emit_updated_to_staff(group_context, document, "savedLate", builder),
        DocumentStep::SaveFailed => emit_updated(group_context, document, &["saveFailedAt"], builder),
        DocumentStep::Frozen => emit_status(group_context, &document.document, builder),
        // Nothing has changed for any page.
        DocumentStep::PlayedBack {
            generation: _,
            since: _,
        } => {}
    }
}

/// A document exists.
pub fn emit_created(group_context: &GroupContext, document: &DocumentDetails, builder: &mut EventBuilder<'_>) {
    builder.emit_to_group(group_context, Event::DocumentCreated, |audience| {
        document_payload(document, None, audience)
    });
}

/// The status or lock of documents changed.
pub fn emit_statuses(placed: &[GroupDocument], builder: &mut EventBuilder<'_>) {
    for GroupDocument {
        group_context,
        document,
    } in placed
    {
        emit_status(group_context, document, builder);
    }
}

/// Documents were locked. Those with open editors are being frozen first, and their status follows.
pub fn emit_locked(placed: &[GroupDocument], builder: &mut EventBuilder<'_>) {
    for GroupDocument {
        group_context,
        document,
    } in placed
    {
        emit_frozen(group_context, document, builder);
    }
}

/// A document was submitted or locked. While it is being frozen, pages keep their editor; its status follows.
pub fn emit_frozen(group_context: &GroupContext, document: &Document, builder: &mut EventBuilder<'_>) {
    if document.is_freezing() {
        builder.emit_to_whole_group(
            group_context,
            Event::DocumentFreezing,
            reference(group_context, document),
        );
    } else {
        emit_status(group_context, document, builder);
    }
}

/// The status or lock of a document changed.
pub fn emit_status(group_context: &GroupContext, document: &Document, builder: &mut EventBuilder<'_>) {
    let payload = DocumentStatusChanged {
        document_id: document.id.clone(),
        group_id: group_context.group.id.clone(),
        status: document.status.document_status(),
        status_before_lock: document.status.before_lock(),
        assignment_id: document.assignment_id.clone(),
        version: document.version,
        content_pending: document.unsaved_generation.is_some(),
    };
    builder.emit_to_whole_group(group_context, Event::DocumentStatus, payload);
}

fn emit_updated(
    group_context: &GroupContext,
    document: &DocumentDetails,
    changed: &[&str],
    builder: &mut EventBuilder<'_>,
) {
    builder.emit_to_group(group_context, Event::DocumentUpdated, |audience| {
        document_payload(document, Some(changed), audience)
    });
}

/// Alerts staff only; students could not do anything about it.
fn emit_updated_to_staff(
    group_context: &GroupContext,
    document: &DocumentDetails,
    what: &str,
    builder: &mut EventBuilder<'_>,
) {
    let header = EventBuilder::event(&group_context.class, Event::DocumentUpdated);
    builder.emit_to_staff(&header, document_payload(document, Some(&[what]), &Audience::Staff));
}

fn document_payload<'a>(
    document: &DocumentDetails,
    changed: Option<&'a [&'a str]>,
    audience: &Audience,
) -> DocumentEvent<'a> {
    DocumentEvent {
        document: DocumentFieldsView::new(document, audience),
        changed,
    }
}

fn reference(group_context: &GroupContext, document: &Document) -> DocumentRef {
    DocumentRef {
        document_id: document.id.clone(),
        group_id: group_context.group.id.clone(),
    }
}
