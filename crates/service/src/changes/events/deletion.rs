//! Events of restored objects: those of their creation, in the order in which they refer to each other, to the users who
//! may see them now.

use domain::change::{DeletionChange, RestoredObjects};
use domain::deleted_object::DeletedNoun;
use domain::realtime::MembershipAction;

use super::event_builder::EventBuilder;
use super::{assignment, class, course, document, group, organization};

pub fn emit(change: &DeletionChange, builder: &mut EventBuilder<'_>) {
    match change {
        DeletionChange::Restored {
            deletion,
            outcome: _,
            restored,
        } => {
            emit_restored(restored, builder);
            if deletion.noun == DeletedNoun::Group {
                // The topics of the group were not deleted.
                for link in restored.groups.iter().flat_map(|group| &group.links) {
                    assignment::emit_link(&link.assignment, link, builder);
                }
            }
        }
        // What is deleted for good was invisible before; only the list changes.
        DeletionChange::Discarded { deletion: _ } => organization::list_changed("deletions", builder),
    }
}

fn emit_restored(restored: &RestoredObjects, builder: &mut EventBuilder<'_>) {
    if let Some(details) = &restored.class {
        class::emit_created(details, builder);
        builder.resync_users(&restored.students, Vec::new());
        for student in &restored.students {
            class::emit_student_membership(&details.class, student, MembershipAction::Enrolled, builder);
        }
    }
    for details in &restored.courses {
        course::emit_created(details, builder);
    }
    for details in &restored.groups {
        group::emit_created(details, builder);
    }
    for details in &restored.assignments {
        assignment::emit_created(details, builder);
    }
    if let Some((group_context, details)) = &restored.document {
        document::emit_created(group_context, details, builder);
    }
    document::emit_statuses(&restored.relinked, builder);
}
