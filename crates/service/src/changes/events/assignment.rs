//! Events of topics. Staff receive the links of all groups, each visible group only its own.

use domain::assignment::Assignment;
use domain::change::assignment::AssignmentChange;
use domain::change::deletion::GroupDocument;
use domain::details::{AssignmentDetails, GroupAssignmentDetails};
use domain::file::AssignmentAttachment;
use domain::group::GroupContext;
use domain::group_assignment::can_view_file;
use domain::id::{AssignmentId, ClassId, CourseId, GroupId};
use domain::realtime::Event;

use super::event_builder::{EventBuilder, names};
use super::{document, group};
use api_types::audience::Audience;
use api_types::event::{
    AssignmentCreated, AssignmentDeleted, AssignmentLinked, AssignmentSwitched, AssignmentUpdated, EventAssignment,
    EventDocumentStatus, EventGroupAssignment,
};

pub fn emit(change: &AssignmentChange, builder: &mut EventBuilder<'_>) {
    match change {
        AssignmentChange::Created {
            assignment,
            copied_from: _,
        } => emit_created(assignment, builder),
        AssignmentChange::GroupsAttached { assignment, attached } => emit_attached(assignment, attached, builder),
        AssignmentChange::Updated {
            assignment,
            changed,
            overridden,
        } => emit_updated(assignment, &names(changed), overridden, builder),
        AssignmentChange::BulkUpdated {
            assignment,
            changed,
            moved,
            files: _,
        } => {
            for start in moved {
                group::emit_moved(&start.group, &start.before, &["startDate"], builder);
            }
            emit_updated(assignment, &names(changed), &[], builder);
        }
        AssignmentChange::GroupDetached {
            assignment,
            group_context,
            submissions: _,
            released,
            files: _,
        } => {
            let topic = &assignment.assignment;
            let payload = AssignmentLinked {
                assignment_id: topic.id.clone(),
                course_id: topic.course_id.clone(),
                group_id: group_context.group.id.clone(),
                group_assignment: None,
            };
            builder.emit_to_whole_group(group_context, Event::AssignmentDetached, payload);
            document::emit_statuses(released, builder);
        }
        AssignmentChange::LinkUpdated { link, changed } => {
            let header = EventBuilder::event(&link.group_context.class, Event::AssignmentUpdated);
            let names = names(changed);
            let affected = vec![link.link.group_id.clone()];
            builder.emit_to_staff(&header, staff_payload(&link.assignment, &names, affected));
            let shown: Vec<_> = names
                .into_iter()
                .filter_map(|name| student_field_name(name, link))
                .collect();
            emit_updated_to_members(&header, link, &shown, builder);
        }
        AssignmentChange::AttachmentAdded { assignment, attachment }
        | AssignmentChange::AttachmentRemoved { assignment, attachment } => {
            emit_attachments_updated(assignment, attachment, builder);
        }
        AssignmentChange::Finished {
            assignment,
            already_finished,
            documents,
            open: _,
            unsaved: _,
        } => {
            if !already_finished || !documents.is_empty() {
                emit_status_changed(assignment, Event::AssignmentFinished, documents, builder);
                document::emit_locked(documents, builder);
            }
        }
        AssignmentChange::Reopened { assignment, documents } => {
            emit_status_changed(assignment, Event::AssignmentReopened, documents, builder);
            document::emit_statuses(documents, builder);
        }
        AssignmentChange::Deleted {
            assignment,
            group_contexts,
            submissions: _,
            released,
            files: _,
        } => {
            emit_deleted(assignment, group_contexts, builder);
            document::emit_statuses(released, builder);
        }
        AssignmentChange::Exported {
            assignment: _,
            format: _,
        } => {}
    }
}

/// A topic was created.
fn emit_created(details: &AssignmentDetails, builder: &mut EventBuilder<'_>) {
    let topic = &details.assignment;
    let header = EventBuilder::event(&topic.class_id, Event::AssignmentCreated);
    let payload = |audience: &Audience, link: Option<&GroupAssignmentDetails>| AssignmentCreated {
        assignment: EventAssignment::from(topic),
        assignment_id: topic.id.clone(),
        course_id: topic.course_id.clone(),
        is_shared: topic.is_shared,
        group_ids: audience.staff_only(details.group_ids()),
        group_assignment: link.map(EventGroupAssignment::from),
    };
    builder.emit_to_staff(&header, payload(&Audience::Staff, None));
    for link in &details.links {
        builder.emit_to_members(&header, &link.group_context, payload(&Audience::Group, Some(link)));
    }
}

/// Groups were attached to a topic: one event per group, to staff and to its students.
fn emit_attached(details: &AssignmentDetails, attached: &[GroupId], builder: &mut EventBuilder<'_>) {
    let topic = &details.assignment;
    for link in details
        .links
        .iter()
        .filter(|link| attached.contains(&link.link.group_id))
    {
        let payload = AssignmentLinked {
            assignment_id: topic.id.clone(),
            course_id: topic.course_id.clone(),
            group_id: link.link.group_id.clone(),
            group_assignment: Some(EventGroupAssignment::from(link)),
        };
        builder.emit_to_whole_group(&link.group_context, Event::AssignmentAttached, payload);
    }
}

/// The fields of a topic or the group-specific texts of some groups changed.
fn emit_updated(
    details: &AssignmentDetails,
    changed: &[&'static str],
    overridden: &[GroupId],
    builder: &mut EventBuilder<'_>,
) {
    let header = EventBuilder::event(&details.assignment.class_id, Event::AssignmentUpdated);
    let mut names = changed.to_vec();
    if !overridden.is_empty() {
        names.push("descriptionOverride");
    }
    let affected = if changed.is_empty() {
        overridden.to_vec()
    } else {
        details.group_ids()
    };
    builder.emit_to_staff(&header, staff_payload(&details.assignment, &names, affected));
    for link in &details.links {
        let mut shown = changed.to_vec();
        if overridden.contains(&link.link.group_id) {
            shown.extend(student_field_name("descriptionOverride", link));
        }
        emit_updated_to_members(&header, link, &shown, builder);
    }
}

/// A file was added or removed. No event for a staged file; a file for one group is visible only to staff and that
/// group.
fn emit_attachments_updated(details: &AssignmentDetails, file: &AssignmentAttachment, builder: &mut EventBuilder<'_>) {
    if file.staged_at.is_some() {
        return;
    }
    let header = EventBuilder::event(&details.assignment.class_id, Event::AssignmentUpdated);
    let concerns = |link: &&GroupAssignmentDetails| {
        let own = file.group_assignment_id.as_ref();
        own.is_none_or(|own| *own == link.link.id)
    };
    let affected: Vec<_> = details.links.iter().filter(concerns).collect();
    let groups = affected.iter().map(|link| link.link.group_id.clone()).collect();
    builder.emit_to_staff(&header, staff_payload(&details.assignment, &["attachments"], groups));
    for link in affected {
        if can_view_file(&details.assignment, &link.link, file) {
            emit_updated_to_members(&header, link, &["attachments"], builder);
        }
    }
}

/// A topic was finished or reopened.
fn emit_status_changed(
    details: &AssignmentDetails,
    event: Event,
    documents: &[GroupDocument],
    builder: &mut EventBuilder<'_>,
) {
    let topic = &details.assignment;
    let header = EventBuilder::event(&topic.class_id, event);
    let payload = |concerns: &dyn Fn(&GroupDocument) -> bool| AssignmentSwitched {
        assignment_id: topic.id.clone(),
        status: topic.status(),
        finished_at: topic.finished.as_ref().map(|finish| finish.at),
        documents: documents
            .iter()
            .filter(|placed| concerns(placed))
            .map(|placed| EventDocumentStatus {
                id: placed.document.id.clone(),
                status: placed.document.status.document_status(),
                status_before_lock: placed.document.status.before_lock(),
            })
            .collect(),
    };
    builder.emit_to_staff(&header, payload(&|_| true));
    for link in &details.links {
        let own = payload(&|placed: &GroupDocument| placed.group_context.group.id == link.link.group_id);
        builder.emit_to_members(&header, &link.group_context, own);
    }
}

fn emit_deleted(topic: &Assignment, group_contexts: &[GroupContext], builder: &mut EventBuilder<'_>) {
    emit_deleted_objects(
        &topic.class_id,
        &topic.id,
        topic.course_id.as_ref(),
        group_contexts,
        builder,
    );
}

/// A topic was deleted; `group_contexts` are the groups that worked on it.
pub fn emit_deleted_objects(
    class: &ClassId,
    topic: &AssignmentId,
    course: Option<&CourseId>,
    group_contexts: &[GroupContext],
    builder: &mut EventBuilder<'_>,
) {
    let header = EventBuilder::event(class, Event::AssignmentDeleted);
    let payload = |group: Option<&GroupContext>| AssignmentDeleted {
        assignment_id: topic.clone(),
        course_id: course.cloned(),
        group_id: group.map(|group_context| group_context.group.id.clone()),
    };
    builder.emit_to_staff(&header, payload(None));
    for group_context in group_contexts {
        builder.emit_to_members(&header, group_context, payload(Some(group_context)));
    }
}

fn shared_payload<'a>(topic: &Assignment, changed: &'a [&'a str], audience: &Audience) -> AssignmentUpdated<'a> {
    AssignmentUpdated {
        assignment_id: topic.id.clone(),
        title: topic.title.clone(),
        deadline: topic.deadline,
        is_shared: topic.is_shared,
        course_id: topic.course_id.clone(),
        status: topic.status(),
        changed,
        affected_group_ids: audience.staff_only(Vec::new()),
        group_assignment: None,
    }
}

fn staff_payload<'a>(topic: &Assignment, changed: &'a [&'a str], affected: Vec<GroupId>) -> AssignmentUpdated<'a> {
    AssignmentUpdated {
        affected_group_ids: Audience::Staff.staff_only(affected),
        ..shared_payload(topic, changed, &Audience::Staff)
    }
}

/// Notifies the members of a group about the fields that changed for them, if any.
fn emit_updated_to_members(
    header: &super::event_builder::EventHeader,
    link: &GroupAssignmentDetails,
    changed: &[&str],
    builder: &mut EventBuilder<'_>,
) {
    if changed.is_empty() {
        return;
    }
    let payload = AssignmentUpdated {
        group_assignment: Some(EventGroupAssignment::from(link)),
        ..shared_payload(&link.assignment, changed, &Audience::Group)
    };
    builder.emit_to_members(header, &link.group_context, payload);
}

/// Returns the name of a field as students see it: they only see the effective description.
fn student_field_name(name: &'static str, link: &GroupAssignmentDetails) -> Option<&'static str> {
    match name {
        "descriptionOverride" if link.assignment.is_shared => None,
        "descriptionOverride" => Some("effectiveDescription"),
        name => Some(name),
    }
}
