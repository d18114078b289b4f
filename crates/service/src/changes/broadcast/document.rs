//! Events of documents in work rooms.

use model::change::document::DocumentChange;
use model::change::removed::PlacedDocument;
use model::document::Document;
use model::group::Place;
use model::news::Event;
use model::save::RevisionOrigin;
use model::whole::WholeDocument;

use super::telling::{Telling, names};
use api_types::audience::Audience;
use api_types::document::DocumentFieldsView;
use api_types::event::{DocumentEvent, DocumentRef, DocumentStatusChanged};

pub fn tell(change: &DocumentChange, telling: &mut Telling<'_>) {
    match change {
        DocumentChange::Created { place, document } => {
            telling.tell_group(place, Event::DocumentCreated, |audience| {
                shown(document, None, audience)
            });
        }
        DocumentChange::Updated {
            place,
            document,
            changed,
        } => updated(place, document, &names(changed), telling),
        DocumentChange::Replaced {
            place,
            document,
            revision: _,
        } => updated(place, document, &["version", "size"], telling),
        // Without `changed`, which marks the event as a save: consecutive saves are merged before they are sent.
        DocumentChange::Saved {
            place,
            document,
            revision: _,
        } => telling.tell_group(place, Event::DocumentUpdated, |audience| {
            shown(document, None, audience)
        }),
        DocumentChange::SavedLate {
            place,
            document,
            revision,
        } if revision.origin == RevisionOrigin::Late => updated(place, document, &["savedLate"], telling),
        DocumentChange::SavedLate {
            place,
            document,
            revision: _,
        } => alarm(place, document, "savedLate", telling),
        DocumentChange::SaveFailed { place, document } => updated(place, document, &["saveFailedAt"], telling),
        DocumentChange::Frozen { place, document } => status(place, &document.document, telling),
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
            telling.tell_group_alike(place, Event::DocumentDeleted, reference(place, document));
        }
    }
}

/// The status or lock of documents changed.
pub fn statuses(placed: &[PlacedDocument], telling: &mut Telling<'_>) {
    for PlacedDocument { place, document } in placed {
        status(place, document, telling);
    }
}

/// Documents were locked. Those with open editors are being frozen first, and their status follows.
pub fn locked(placed: &[PlacedDocument], telling: &mut Telling<'_>) {
    for PlacedDocument { place, document } in placed {
        frozen(place, document, telling);
    }
}

/// A document was submitted or locked. While it is being frozen, pages keep their editor; its status follows.
pub fn frozen(place: &Place, document: &Document, telling: &mut Telling<'_>) {
    if document.is_freezing() {
        telling.tell_group_alike(place, Event::DocumentFreezing, reference(place, document));
    } else {
        status(place, document, telling);
    }
}

/// The status or lock of a document changed.
pub fn status(place: &Place, document: &Document, telling: &mut Telling<'_>) {
    let rest = DocumentStatusChanged {
        document_id: document.id.clone(),
        group_id: place.group.id.clone(),
        status: document.status.word(),
        status_before_lock: document.status.before_lock(),
        assignment_id: document.assignment_id.clone(),
        version: document.version,
        content_pending: document.unsaved_generation.is_some(),
    };
    telling.tell_group_alike(place, Event::DocumentStatus, rest);
}

fn updated(place: &Place, document: &WholeDocument, changed: &[&str], telling: &mut Telling<'_>) {
    telling.tell_group(place, Event::DocumentUpdated, |audience| {
        shown(document, Some(changed), audience)
    });
}

/// Alerts staff only; students could not do anything about it.
fn alarm(place: &Place, document: &WholeDocument, what: &str, telling: &mut Telling<'_>) {
    let told = Telling::event(&place.class, Event::DocumentUpdated);
    telling.tell_staff(&told, shown(document, Some(&[what]), &Audience::Staff));
}

fn shown<'a>(document: &WholeDocument, changed: Option<&'a [&'a str]>, audience: &Audience) -> DocumentEvent<'a> {
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
