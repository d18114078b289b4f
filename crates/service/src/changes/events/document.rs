//! Events of documents in work rooms.

use model::change::document::DocumentChange;
use model::change::removed::PlacedDocument;
use model::details::DocumentDetails;
use model::document::Document;
use model::group::Place;
use model::realtime::Event;
use model::save::RevisionOrigin;

use super::event_builder::{EventBuilder, names};
use api_types::audience::Audience;
use api_types::document::DocumentFieldsView;
use api_types::event::{DocumentEvent, DocumentRef, DocumentStatusChanged};

pub fn emit(change: &DocumentChange, builder: &mut EventBuilder<'_>) {
    match change {
        DocumentChange::Created { place, document } => {
            builder.emit_to_group(place, Event::DocumentCreated, |audience| {
                document_payload(document, None, audience)
            });
        }
        DocumentChange::Updated {
            place,
            document,
            changed,
        } => emit_updated(place, document, &names(changed), builder),
        DocumentChange::Replaced {
            place,
            document,
            revision: _,
        } => emit_updated(place, document, &["version", "size"], builder),
        // Without `changed`, which marks the event as a save: consecutive saves are merged before they are sent.
        DocumentChange::Saved {
            place,
            document,
            revision: _,
        } => builder.emit_to_group(place, Event::DocumentUpdated, |audience| {
            document_payload(document, None, audience)
        }),
        DocumentChange::SavedLate {
            place,
            document,
            revision,
        } if revision.origin == RevisionOrigin::Late => emit_updated(place, document, &["savedLate"], builder),
        DocumentChange::SavedLate {
            place,
            document,
            revision: _,
        } => emit_updated_to_staff(place, document, "savedLate", builder),
        DocumentChange::SaveFailed { place, document } => emit_updated(place, document, &["saveFailedAt"], builder),
        DocumentChange::Frozen { place, document } => emit_status(place, &document.document, builder),
        DocumentChange::RevisionsPruned { files: _ }
        // No event: the page of a deleted document polls while it is open.
        | DocumentChange::LateTextKept {
            document: _,
            text: _,
            is_replacement: _,
            files: _,
        } => {}
        DocumentChange::Deleted {
            place,
            document,
            files: _,
        } => {
            builder.emit_to_whole_group(place, Event::DocumentDeleted, reference(place, document));
        }
    }
}

/// The status or lock of documents changed.
pub fn emit_statuses(placed: &[PlacedDocument], builder: &mut EventBuilder<'_>) {
    for PlacedDocument { place, document } in placed {
        emit_status(place, document, builder);
    }
}

/// Documents were locked. Those with open editors are being frozen first, and their status follows.
pub fn emit_locked(placed: &[PlacedDocument], builder: &mut EventBuilder<'_>) {
    for PlacedDocument { place, document } in placed {
        emit_frozen(place, document, builder);
    }
}

/// A document was submitted or locked. While it is being frozen, pages keep their editor; its status follows.
pub fn emit_frozen(place: &Place, document: &Document, builder: &mut EventBuilder<'_>) {
    if document.is_freezing() {
        builder.emit_to_whole_group(place, Event::DocumentFreezing, reference(place, document));
    } else {
        emit_status(place, document, builder);
    }
}

/// The status or lock of a document changed.
pub fn emit_status(place: &Place, document: &Document, builder: &mut EventBuilder<'_>) {
    let payload = DocumentStatusChanged {
        document_id: document.id.clone(),
        group_id: place.group.id.clone(),
        status: document.status.word(),
        status_before_lock: document.status.before_lock(),
        assignment_id: document.assignment_id.clone(),
        version: document.version,
        content_pending: document.unsaved_generation.is_some(),
    };
    builder.emit_to_whole_group(place, Event::DocumentStatus, payload);
}

fn emit_updated(place: &Place, document: &DocumentDetails, changed: &[&str], builder: &mut EventBuilder<'_>) {
    builder.emit_to_group(place, Event::DocumentUpdated, |audience| {
        document_payload(document, Some(changed), audience)
    });
}

/// Alerts staff only; students could not do anything about it.
fn emit_updated_to_staff(place: &Place, document: &DocumentDetails, what: &str, builder: &mut EventBuilder<'_>) {
    let header = EventBuilder::event(&place.class, Event::DocumentUpdated);
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

fn reference(place: &Place, document: &Document) -> DocumentRef {
    DocumentRef {
        document_id: document.id.clone(),
        group_id: place.group.id.clone(),
    }
}
