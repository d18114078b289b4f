//! Events of topics. Staff receive the links of all groups, each visible group only its own, and only while the topic
//! is published for it.

use domain::assignment::Assignment;
use domain::change::{AssignmentChange, GroupDocument};
use domain::details::{AssignmentDetails, GroupAssignmentDetails};
use domain::file::AssignmentAttachment;
use domain::from_fields;
use domain::group::GroupContext;
use domain::group_assignment::can_view_file;
use domain::id::{AssignmentId, ClassId, CourseId, GroupId};
use domain::realtime::Event;

use super::event_builder::{EventBuilder, EventHeader, names};
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
            excepted,
            published_before,
        } => {
            let update = TopicUpdate {
                changed: names(changed),
                overridden,
                excepted,
                published_before: Some(published_before),
            };
            emit_updated(assignment, &update, builder);
        }
        AssignmentChange::BulkUpdated {
            assignment,
            changed,
            moved,
            published_before,
            files: _,
        } => {
            for start in moved {
                group::emit_moved(&start.group, &start.before, &["startDate"], builder);
            }
            let update = TopicUpdate {
                changed: names(changed),
                published_before: Some(published_before),
                ..TopicUpdate::default()
            };
            emit_updated(assignment, &update, builder);
        }
        AssignmentChange::GroupDetached {
            assignment,
            group_context,
            was_published,
            submissions: _,
            released,
            files: _,
        } => {
            emit_detached(&assignment.assignment, group_context, *was_published, builder);
            document::emit_statuses(released, builder);
        }
        AssignmentChange::LinkUpdated {
            link,
            changed,
            was_published,
        } => emit_link_updated(link, &names(changed), *was_published, builder),
        AssignmentChange::RubricChanged {
            assignment,
            rubric: _,
            is_shown,
        } => emit_rubric_changed(assignment, *is_shown, builder),
        AssignmentChange::AttachmentChanged {
            assignment,
            attachment,
            is_added: _,
        } => emit_attachments_updated(assignment, attachment, builder),
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
            published_groups,
            submissions: _,
            released,
            files: _,
        } => {
            emit_deleted(assignment, group_contexts, published_groups, builder);
            document::emit_statuses(released, builder);
        }
        // The messages of a reminder have events of their own.
        AssignmentChange::Reminded {
            assignment: _,
            groups: _,
        }
        | AssignmentChange::Exported {
            assignment: _,
            format: _,
        } => {}
    }
}

/// A topic was created.
pub fn emit_created(details: &AssignmentDetails, builder: &mut EventBuilder<'_>) {
    let topic = &details.assignment;
    let header = EventBuilder::event(&topic.class_id, Event::AssignmentCreated);
    let payload = AssignmentCreated {
        group_ids: Audience::Staff.staff_only(details.group_ids()),
        ..created_payload(topic, &Audience::Staff)
    };
    builder.emit_to_staff(&header, payload);
    for link in &details.links {
        emit_created_to_members(&header, link, builder);
    }
}

/// The topic came into existence for the students of a group.
fn emit_created_to_members(header: &EventHeader, link: &GroupAssignmentDetails, builder: &mut EventBuilder<'_>) {
    let payload = AssignmentCreated {
        group_assignment: Some(EventGroupAssignment::from(link)),
        ..created_payload(&link.assignment, &Audience::Group)
    };
    builder.emit_to_link_members(header, link, payload);
}

fn created_payload(topic: &Assignment, audience: &Audience) -> AssignmentCreated {
    AssignmentCreated {
        assignment: EventAssignment::from(topic),
        assignment_id: topic.id.clone(),
        course_id: topic.course_id.clone(),
        is_shared: topic.is_shared,
        group_ids: audience.staff_only(Vec::new()),
        group_assignment: None,
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
        emit_link(topic, link, builder);
    }
}

/// A group works on a topic.
pub fn emit_link(topic: &Assignment, link: &GroupAssignmentDetails, builder: &mut EventBuilder<'_>) {
    let payload = AssignmentLinked {
        assignment_id: topic.id.clone(),
        course_id: topic.course_id.clone(),
        group_id: link.link.group_id.clone(),
        group_assignment: Some(EventGroupAssignment::from(link)),
    };
    let is_published = link.is_published(builder.now());
    emit_linked(
        &link.group_context,
        is_published,
        Event::AssignmentAttached,
        payload,
        builder,
    );
}

/// A group was detached from a topic.
fn emit_detached(
    topic: &Assignment,
    group_context: &GroupContext,
    was_published: bool,
    builder: &mut EventBuilder<'_>,
) {
    let payload = AssignmentLinked {
        assignment_id: topic.id.clone(),
        course_id: topic.course_id.clone(),
        group_id: group_context.group.id.clone(),
        group_assignment: None,
    };
    emit_linked(
        group_context,
        was_published,
        Event::AssignmentDetached,
        payload,
        builder,
    );
}

/// A group was attached or detached: to staff, and to its students if the topic is published for the group.
fn emit_linked(
    group_context: &GroupContext,
    is_published: bool,
    event: Event,
    payload: AssignmentLinked,
    builder: &mut EventBuilder<'_>,
) {
    if is_published {
        builder.emit_to_whole_group(group_context, event, payload);
    } else {
        builder.emit_to_staff(&EventBuilder::event(&group_context.class, event), payload);
    }
}

/// What an update of a topic changed.
#[derive(Default)]
struct TopicUpdate<'a> {
    /// The fields of the topic.
    changed: Vec<&'static str>,
    /// The groups whose own text changed.
    overridden: &'a [GroupId],
    /// The groups whose exception from the publication changed.
    excepted: &'a [GroupId],
    /// The groups for which the topic was published before; `None` if the update cannot change that.
    published_before: Option<&'a [GroupId]>,
}

/// The fields of a topic or the group-specific texts or publications of some groups changed.
fn emit_updated(details: &AssignmentDetails, update: &TopicUpdate<'_>, builder: &mut EventBuilder<'_>) {
    let header = EventBuilder::event(&details.assignment.class_id, Event::AssignmentUpdated);
    let concerned = |link: &GroupAssignmentDetails| {
        let group = &link.link.group_id;
        let mut names = update.changed.clone();
        if update.overridden.contains(group) {
            names.push("descriptionOverride");
        }
        if update.excepted.contains(group) {
            names.push("publishAt");
        }
        names
    };
    let mut names = update.changed.clone();
    if !update.overridden.is_empty() {
        names.push("descriptionOverride");
    }
    if !update.excepted.is_empty() && !names.contains(&"publishAt") {
        names.push("publishAt");
    }
    let affected = details.links.iter().filter(|link| !concerned(link).is_empty());
    let affected = affected.map(|link| link.link.group_id.clone()).collect();
    builder.emit_to_staff(&header, staff_payload(&details.assignment, &names, affected));
    for link in &details.links {
        let was_published = update.published_before.map_or_else(
            || link.is_published(builder.now()),
            |groups| groups.contains(&link.link.group_id),
        );
        emit_to_students(&header, link, was_published, &concerned(link), builder);
    }
}

/// The task text, the extended deadline or the publication of one group changed.
fn emit_link_updated(
    link: &GroupAssignmentDetails,
    changed: &[&'static str],
    was_published: bool,
    builder: &mut EventBuilder<'_>,
) {
    let header = EventBuilder::event(&link.group_context.class, Event::AssignmentUpdated);
    let affected = vec![link.link.group_id.clone()];
    builder.emit_to_staff(&header, staff_payload(&link.assignment, changed, affected));
    emit_to_students(&header, link, was_published, changed, builder);
}

/// Notifies the students of a group about an update of their topic. A topic that is published now is created for them,
/// one that is hidden now is deleted for them.
fn emit_to_students(
    header: &EventHeader,
    link: &GroupAssignmentDetails,
    was_published: bool,
    changed: &[&'static str],
    builder: &mut EventBuilder<'_>,
) {
    let topic = &link.assignment;
    match (was_published, link.is_published(builder.now())) {
        (false, true) => {
            let header = EventBuilder::event(&topic.class_id, Event::AssignmentCreated);
            emit_created_to_members(&header, link, builder);
        }
        (true, false) => {
            let header = EventBuilder::event(&topic.class_id, Event::AssignmentDeleted);
            let payload = AssignmentDeleted {
                assignment_id: topic.id.clone(),
                course_id: topic.course_id.clone(),
                group_id: Some(link.link.group_id.clone()),
            };
            builder.emit_to_members(&header, &link.group_context, payload);
        }
        (true, true) => {
            let names = changed.iter().copied();
            let mut shown: Vec<_> = names.filter_map(|name| student_field_name(name, link)).collect();
            shown.dedup();
            emit_updated_to_members(header, link, &shown, builder);
        }
        (false, false) => {}
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

/// Students are notified only if they can see the criteria, or could.
fn emit_rubric_changed(details: &AssignmentDetails, is_shown: bool, builder: &mut EventBuilder<'_>) {
    let header = EventBuilder::event(&details.assignment.class_id, Event::AssignmentUpdated);
    let groups = details.group_ids();
    builder.emit_to_staff(&header, staff_payload(&details.assignment, &["rubric"], groups));
    for link in details.links.iter().filter(|_| is_shown) {
        emit_updated_to_members(&header, link, &["rubric"], builder);
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
        builder.emit_to_link_members(&header, link, own);
    }
}

fn emit_deleted(
    topic: &Assignment,
    group_contexts: &[GroupContext],
    published_groups: &[GroupId],
    builder: &mut EventBuilder<'_>,
) {
    let informed: Vec<_> = group_contexts
        .iter()
        .filter(|group_context| published_groups.contains(&group_context.group.id))
        .cloned()
        .collect();
    emit_deleted_objects(&topic.class_id, &topic.id, topic.course_id.as_ref(), &informed, builder);
}

/// A topic was deleted; `group_contexts` are the groups for which it was published.
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
    from_fields!(&topic => AssignmentUpdated {
        title, deadline, is_shared, course_id,
        assignment_id: topic.id.clone(),
        status: topic.status(),
        changed: changed,
        affected_group_ids: audience.staff_only(Vec::new()),
        group_assignment: None,
    })
}

fn staff_payload<'a>(topic: &Assignment, changed: &'a [&'a str], affected: Vec<GroupId>) -> AssignmentUpdated<'a> {
    AssignmentUpdated {
        affected_group_ids: Audience::Staff.staff_only(affected),
        ..shared_payload(topic, changed, &Audience::Staff)
    }
}

/// Notifies the members of a group about the fields that changed for them, if any.
fn emit_updated_to_members(
    header: &EventHeader,
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
    builder.emit_to_link_members(header, link, payload);
}

/// Returns the name of a field as students see it: they only see the effective description, and no publication.
fn student_field_name(name: &'static str, link: &GroupAssignmentDetails) -> Option<&'static str> {
    match name {
        "descriptionOverride" | "includesSharedText" if link.assignment.is_shared => None,
        "descriptionOverride" | "includesSharedText" => Some("effectiveDescription"),
        "isDraft" | "publishAt" => None,
        name => Some(name),
    }
}
