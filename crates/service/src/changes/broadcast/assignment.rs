//! Events of topics. Staff receive the links of all groups, each visible group only its own.

use model::assignment::Assignment;
use model::change::assignment::AssignmentChange;
use model::change::removed::PlacedDocument;
use model::file::AssignmentAttachment;
use model::group::Place;
use model::group_assignment::sees_file;
use model::id::{AssignmentId, ClassId, CourseId, GroupId};
use model::news::Event;
use model::whole::{WholeAssignment, WholeGroupAssignment};

use super::telling::{Telling, names};
use super::{document, group};
use api_types::audience::Audience;
use api_types::event::{
    AssignmentCreated, AssignmentDeleted, AssignmentLinked, AssignmentSwitched, AssignmentUpdated, EventAssignment,
    EventDocumentStatus, EventGroupAssignment,
};

pub fn tell(change: &AssignmentChange, telling: &mut Telling<'_>) {
    match change {
        AssignmentChange::Created {
            assignment,
            copied_from: _,
        } => created(assignment, telling),
        AssignmentChange::GroupsAttached { assignment, attached } => attached_to(assignment, attached, telling),
        AssignmentChange::Updated {
            assignment,
            changed,
            overridden,
        } => edited(assignment, &names(changed), overridden, telling),
        AssignmentChange::BulkUpdated {
            assignment,
            changed,
            moved,
            files: _,
        } => {
            for start in moved {
                group::moved(&start.group, &start.before, &["startDate"], telling);
            }
            edited(assignment, &names(changed), &[], telling);
        }
        AssignmentChange::GroupDetached {
            assignment,
            place,
            submissions: _,
            released,
            files: _,
        } => {
            let topic = &assignment.assignment;
            let rest = AssignmentLinked {
                assignment_id: topic.id.clone(),
                course_id: topic.course_id.clone(),
                group_id: place.group.id.clone(),
                group_assignment: None,
            };
            telling.tell_group_alike(place, Event::AssignmentDetached, rest);
            document::statuses(released, telling);
        }
        AssignmentChange::LinkUpdated { link, changed } => {
            let told = Telling::event(&link.place.class, Event::AssignmentUpdated);
            let names = names(changed);
            let affected = vec![link.link.group_id.clone()];
            telling.tell_staff(&told, for_staff(&link.assignment, &names, affected));
            let shown: Vec<_> = names.into_iter().filter_map(|name| shown_name(name, link)).collect();
            to_member(&told, link, &shown, telling);
        }
        AssignmentChange::AttachmentAdded { assignment, attachment }
        | AssignmentChange::AttachmentRemoved { assignment, attachment } => {
            file_changed(assignment, attachment, telling);
        }
        AssignmentChange::Finished {
            assignment,
            already_finished,
            documents,
            open: _,
            unsaved: _,
        } => {
            if !already_finished || !documents.is_empty() {
                switched(assignment, Event::AssignmentFinished, documents, telling);
                document::locked(documents, telling);
            }
        }
        AssignmentChange::Reopened { assignment, documents } => {
            switched(assignment, Event::AssignmentReopened, documents, telling);
            document::statuses(documents, telling);
        }
        AssignmentChange::Deleted {
            assignment,
            places,
            submissions: _,
            released,
            files: _,
        } => {
            gone(assignment, places, telling);
            document::statuses(released, telling);
        }
        AssignmentChange::Exported {
            assignment: _,
            format: _,
        } => {}
    }
}

/// A topic was created.
fn created(whole: &WholeAssignment, telling: &mut Telling<'_>) {
    let topic = &whole.assignment;
    let told = Telling::event(&topic.class_id, Event::AssignmentCreated);
    let rest = |audience: &Audience, link: Option<&WholeGroupAssignment>| AssignmentCreated {
        assignment: EventAssignment::from(topic),
        assignment_id: topic.id.clone(),
        course_id: topic.course_id.clone(),
        is_shared: topic.is_shared,
        group_ids: audience.staff_only(whole.group_ids()),
        group_assignment: link.map(EventGroupAssignment::from),
    };
    telling.tell_staff(&told, rest(&Audience::Staff, None));
    for link in &whole.links {
        telling.tell_members(&told, &link.place, rest(&Audience::Group, Some(link)));
    }
}

/// Groups were attached to a topic: one event per group, to staff and to its students.
fn attached_to(whole: &WholeAssignment, attached: &[GroupId], telling: &mut Telling<'_>) {
    let topic = &whole.assignment;
    for link in whole.links.iter().filter(|link| attached.contains(&link.link.group_id)) {
        let rest = AssignmentLinked {
            assignment_id: topic.id.clone(),
            course_id: topic.course_id.clone(),
            group_id: link.link.group_id.clone(),
            group_assignment: Some(EventGroupAssignment::from(link)),
        };
        telling.tell_group_alike(&link.place, Event::AssignmentAttached, rest);
    }
}

/// The fields of a topic or the group-specific texts of some groups changed.
fn edited(whole: &WholeAssignment, changed: &[&'static str], overridden: &[GroupId], telling: &mut Telling<'_>) {
    let told = Telling::event(&whole.assignment.class_id, Event::AssignmentUpdated);
    let mut names = changed.to_vec();
    if !overridden.is_empty() {
        names.push("descriptionOverride");
    }
    let affected = if changed.is_empty() {
        overridden.to_vec()
    } else {
        whole.group_ids()
    };
    telling.tell_staff(&told, for_staff(&whole.assignment, &names, affected));
    for link in &whole.links {
        let mut shown = changed.to_vec();
        if overridden.contains(&link.link.group_id) {
            shown.extend(shown_name("descriptionOverride", link));
        }
        to_member(&told, link, &shown, telling);
    }
}

/// A file was added or removed. No event for a staged file; a file for one group is visible only to staff and that
/// group.
fn file_changed(whole: &WholeAssignment, file: &AssignmentAttachment, telling: &mut Telling<'_>) {
    if file.staged_at.is_some() {
        return;
    }
    let told = Telling::event(&whole.assignment.class_id, Event::AssignmentUpdated);
    let concerns = |link: &&WholeGroupAssignment| {
        let own = file.group_assignment_id.as_ref();
        own.is_none_or(|own| *own == link.link.id)
    };
    let affected: Vec<_> = whole.links.iter().filter(concerns).collect();
    let groups = affected.iter().map(|link| link.link.group_id.clone()).collect();
    telling.tell_staff(&told, for_staff(&whole.assignment, &["attachments"], groups));
    for link in affected {
        if sees_file(&whole.assignment, &link.link, file) {
            to_member(&told, link, &["attachments"], telling);
        }
    }
}

/// A topic was finished or reopened.
fn switched(whole: &WholeAssignment, event: Event, documents: &[PlacedDocument], telling: &mut Telling<'_>) {
    let topic = &whole.assignment;
    let told = Telling::event(&topic.class_id, event);
    let rest = |concerns: &dyn Fn(&PlacedDocument) -> bool| AssignmentSwitched {
        assignment_id: topic.id.clone(),
        status: topic.status(),
        finished_at: topic.finished.as_ref().map(|finish| finish.at),
        documents: documents
            .iter()
            .filter(|placed| concerns(placed))
            .map(|placed| EventDocumentStatus {
                id: placed.document.id.clone(),
                status: placed.document.status.word(),
                status_before_lock: placed.document.status.before_lock(),
            })
            .collect(),
    };
    telling.tell_staff(&told, rest(&|_| true));
    for link in &whole.links {
        let own = rest(&|placed: &PlacedDocument| placed.place.group.id == link.link.group_id);
        telling.tell_members(&told, &link.place, own);
    }
}

fn gone(topic: &Assignment, places: &[Place], telling: &mut Telling<'_>) {
    went(&topic.class_id, &topic.id, topic.course_id.as_ref(), places, telling);
}

/// A topic was deleted; `places` are the groups that worked on it.
pub fn went(
    class: &ClassId,
    topic: &AssignmentId,
    course: Option<&CourseId>,
    places: &[Place],
    telling: &mut Telling<'_>,
) {
    let told = Telling::event(class, Event::AssignmentDeleted);
    let rest = |group: Option<&Place>| AssignmentDeleted {
        assignment_id: topic.clone(),
        course_id: course.cloned(),
        group_id: group.map(|place| place.group.id.clone()),
    };
    telling.tell_staff(&told, rest(None));
    for place in places {
        telling.tell_members(&told, place, rest(Some(place)));
    }
}

fn fields<'a>(topic: &Assignment, changed: &'a [&'a str], audience: &Audience) -> AssignmentUpdated<'a> {
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

fn for_staff<'a>(topic: &Assignment, changed: &'a [&'a str], affected: Vec<GroupId>) -> AssignmentUpdated<'a> {
    AssignmentUpdated {
        affected_group_ids: Audience::Staff.staff_only(affected),
        ..fields(topic, changed, &Audience::Staff)
    }
}

/// Notifies the members of a group about the fields that changed for them, if any.
fn to_member(told: &super::telling::Told, link: &WholeGroupAssignment, changed: &[&str], telling: &mut Telling<'_>) {
    if changed.is_empty() {
        return;
    }
    let rest = AssignmentUpdated {
        group_assignment: Some(EventGroupAssignment::from(link)),
        ..fields(&link.assignment, changed, &Audience::Group)
    };
    telling.tell_members(told, &link.place, rest);
}

/// Returns the name of a field as students see it: they only see the effective description.
fn shown_name(name: &'static str, link: &WholeGroupAssignment) -> Option<&'static str> {
    match name {
        "descriptionOverride" if link.assignment.is_shared => None,
        "descriptionOverride" => Some("effectiveDescription"),
        name => Some(name),
    }
}
