//! Topics: the staff hear of all groups, each visible group of itself alone.

use model::assignment::Assignment;
use model::change::assignment::AssignmentChange;
use model::change::removed::PlacedDocument;
use model::file::AssignmentAttachment;
use model::group::Place;
use model::group_assignment::sees_file;
use model::id::GroupId;
use model::news::Event;
use model::whole::{WholeAssignment, WholeGroupAssignment};
use serde_json::{Value, json};

use super::telling::{Telling, names};
use super::{document, group};
use crate::views::assignment::AssignmentView;
use crate::views::audience::Audience;
use crate::views::group_assignment::GroupAssignmentView;

pub fn tell(change: &AssignmentChange, telling: &mut Telling<'_>) {
    match change {
        AssignmentChange::Created {
            assignment,
            copied_from: _,
        } => created(assignment, |_| true, telling),
        AssignmentChange::GroupsAttached { assignment, attached } => {
            created(assignment, |group| attached.contains(group), telling);
        }
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
            let rest = json!({"assignmentId": topic.id, "courseId": topic.course_id, "groupId": place.group.id});
            telling.tell_group_alike(place, Event::AssignmentDeleted, rest);
            document::statuses(released, telling);
        }
        AssignmentChange::LinkUpdated { link, changed } => {
            let told = Telling::event(&link.place.class, Event::AssignmentUpdated);
            let names = names(changed);
            let mut rest = fields(&link.assignment, &names);
            rest["affectedGroupIds"] = json!([link.link.group_id]);
            telling.tell_staff(&told, rest);
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

/// A topic that is new to these of its groups.
fn created(whole: &WholeAssignment, is_new: impl Fn(&GroupId) -> bool, telling: &mut Telling<'_>) {
    let topic = &whole.assignment;
    let told = Telling::event(&topic.class_id, Event::AssignmentCreated);
    let rest = |view: AssignmentView| {
        json!({
            "assignment": view,
            "assignmentId": topic.id,
            "courseId": topic.course_id,
            "isShared": topic.is_shared,
        })
    };
    let mut staff = rest(AssignmentView::new(whole, &Audience::Staff));
    staff["groupIds"] = json!(whole.group_ids());
    telling.tell_staff(&told, staff);
    for link in whole.links.iter().filter(|link| is_new(&link.link.group_id)) {
        let mut member = rest(AssignmentView::for_group(whole, &link.link.group_id));
        member["groupAssignment"] = json!(GroupAssignmentView::new(link, &Audience::Group));
        telling.tell_members(&told, &link.place, member);
    }
}

/// A topic whose fields changed, or the own texts of some groups.
fn edited(whole: &WholeAssignment, changed: &[&'static str], overridden: &[GroupId], telling: &mut Telling<'_>) {
    let told = Telling::event(&whole.assignment.class_id, Event::AssignmentUpdated);
    let mut names = changed.to_vec();
    if !overridden.is_empty() {
        names.push("descriptionOverride");
    }
    let mut rest = fields(&whole.assignment, &names);
    rest["affectedGroupIds"] = if changed.is_empty() {
        json!(overridden)
    } else {
        json!(whole.group_ids())
    };
    telling.tell_staff(&told, rest);
    for link in &whole.links {
        let mut shown = changed.to_vec();
        if overridden.contains(&link.link.group_id) {
            shown.extend(shown_name("descriptionOverride", link));
        }
        to_member(&told, link, &shown, telling);
    }
}

/// A file came or went; a staged one is told to nobody, one for another group to nobody else.
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
    let mut rest = fields(&whole.assignment, &["attachments"]);
    rest["affectedGroupIds"] = affected.iter().map(|link| json!(link.link.group_id)).collect();
    telling.tell_staff(&told, rest);
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
    let rest = |concerns: &dyn Fn(&PlacedDocument) -> bool| {
        let documents: Vec<_> = documents
            .iter()
            .filter(|placed| concerns(placed))
            .map(|placed| {
                json!({
                    "id": placed.document.id,
                    "status": placed.document.status.word(),
                    "statusBeforeLock": placed.document.status.before_lock(),
                })
            })
            .collect();
        json!({
            "assignmentId": topic.id,
            "status": topic.status(),
            "finishedAt": topic.finished.as_ref().map(|finish| finish.at),
            "documents": documents,
        })
    };
    telling.tell_staff(&told, rest(&|_| true));
    for link in &whole.links {
        let own = rest(&|placed: &PlacedDocument| placed.place.group.id == link.link.group_id);
        telling.tell_members(&told, &link.place, own);
    }
}

fn gone(topic: &Assignment, places: &[Place], telling: &mut Telling<'_>) {
    let told = Telling::event(&topic.class_id, Event::AssignmentDeleted);
    telling.tell_staff(&told, json!({"assignmentId": topic.id, "courseId": topic.course_id}));
    for place in places {
        let rest = json!({"assignmentId": topic.id, "courseId": topic.course_id, "groupId": place.group.id});
        telling.tell_members(&told, place, rest);
    }
}

fn fields(topic: &Assignment, changed: &[&str]) -> Value {
    json!({
        "assignmentId": topic.id,
        "title": topic.title,
        "deadline": topic.deadline,
        "isShared": topic.is_shared,
        "courseId": topic.course_id,
        "status": topic.status(),
        "changed": changed,
    })
}

/// Tells the members of a group what changed for them; nothing, when nothing did.
fn to_member(told: &super::telling::Told, link: &WholeGroupAssignment, changed: &[&str], telling: &mut Telling<'_>) {
    if changed.is_empty() {
        return;
    }
    let mut rest = fields(&link.assignment, changed);
    rest["groupAssignment"] = json!(GroupAssignmentView::new(link, &Audience::Group));
    telling.tell_members(told, &link.place, rest);
}

/// How students know a field of their link: they read the text that counts, whichever it is.
fn shown_name(name: &'static str, link: &WholeGroupAssignment) -> Option<&'static str> {
    match name {
        "descriptionOverride" if link.assignment.is_shared => None,
        "descriptionOverride" => Some("effectiveDescription"),
        name => Some(name),
    }
}
