//! Group assignments, the links between groups and topics: attach groups, set a group-specific text, deadline or
//! publication, detach groups.

use api_macros::body;
use std::collections::HashMap;

use domain::assignment::{Assignment, GroupDescription, check_group_descriptions};
use domain::change::{AssignmentChange, CascadeDeletion, GroupChange};
use domain::course::Course;
use domain::details::{AssignmentDetails, GroupAssignmentDetails, GroupDetails};
use domain::domain_error::DomainError;
use domain::error_code::ErrorCode;
use domain::group::{ActiveTopic, Group, GroupContext};
use domain::group_assignment::{GroupAssignment, GroupAssignmentEdit, GroupAssignmentStatus};
use domain::id::{AssignmentId, ClassId, GroupAssignmentId, GroupId};
use domain::list::List;
use domain::patch::{FieldDiff, FieldPatch};
use domain::publication::TopicPublication;
use domain::text::Description;

use super::assignments::course;
use common::clock;
use common::error::{Error, Result};
use db::WriteTx;
use db::groups::GroupFilter;

/// Groups to attach to a topic.
#[body]
pub struct NewGroups {
    /// The ids of the groups.
    #[serde(default)]
    pub group_ids: List<GroupId>,
    /// Groups with group-specific texts and exceptions from the publication.
    #[serde(default)]
    #[garde(custom(check_group_descriptions))]
    pub groups: List<GroupDescription>,
}

/// A group whose course or start date changed because that of its topic did.
pub(super) struct MovedGroup {
    pub(super) group: GroupId,
    pub(super) before: GroupContext,
    pub(super) changed: FieldDiff,
}

/// The result of attaching groups.
pub(super) struct Attached {
    /// The groups that were attached now.
    pub(super) groups: Vec<GroupId>,
    /// The groups that moved to the course of the topic.
    pub(super) moved: Vec<MovedGroup>,
}

/// A group to attach, with its group-specific text and publication.
pub(super) struct RequestedGroup {
    group: GroupDetails,
    text: FieldPatch<Description>,
    includes_shared_text: FieldPatch<bool>,
    /// `None` if the request does not name it.
    publication: Option<TopicPublication>,
}

/// The groups of a topic whose links an edit changed.
#[derive(Default)]
pub(super) struct EditedLinks {
    /// The groups whose own text changed.
    pub(super) overridden: Vec<GroupId>,
    /// The groups whose exception from the publication changed.
    pub(super) excepted: Vec<GroupId>,
}

/// Returns groups of one class by id. [`Error::NotFound`] for a group that the caller cannot see; rejects groups of
/// other classes. The caller holds the lock of the class, so the groups cannot change. One query reads them all.
pub(super) fn groups_of_class(
    tx: &mut WriteTx<'_>,
    class: &ClassId,
    ids: &[GroupId],
) -> Result<HashMap<GroupId, GroupDetails>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let filter = GroupFilter {
        class_id: Some(class.clone()),
        ..GroupFilter::default()
    };
    let mut groups: HashMap<_, _> = tx
        .groups(&filter)?
        .into_iter()
        .map(|known| (known.details.group.id.clone(), known.details))
        .collect();
    let foreign: Vec<&GroupId> = ids.iter().filter(|id| !groups.contains_key(*id)).collect();
    for id in &foreign {
        tx.group(id)?;
    }
    if !foreign.is_empty() {
        return Err(DomainError::ClassMismatch.into());
    }
    groups.retain(|id, _| ids.contains(id));
    Ok(groups)
}

/// Returns the groups that a request names, without duplicates.
pub(super) fn resolve_requested_groups(
    tx: &mut WriteTx<'_>,
    class: &ClassId,
    ids: &[GroupId],
    texts: &[GroupDescription],
) -> Result<Vec<RequestedGroup>> {
    let mut named: Vec<GroupDescription> = texts.to_vec();
    for id in ids {
        if !texts.iter().any(|text| text.group_id == *id) {
            named.push(GroupDescription {
                group_id: id.clone(),
                description_override: FieldPatch::Unchanged,
                includes_shared_text: FieldPatch::Unchanged,
                is_draft: FieldPatch::Unchanged,
                publish_at: FieldPatch::Unchanged,
            });
        }
    }
    let ids: Vec<GroupId> = named.iter().map(|text| text.group_id.clone()).collect();
    let mut groups = groups_of_class(tx, class, &ids)?;
    let mut wanted = Vec::with_capacity(named.len());
    for text in named {
        let Some(group) = groups.remove(&text.group_id) else {
            continue;
        };
        let is_named = !text.is_draft.is_unchanged() || !text.publish_at.is_unchanged();
        let publication = TopicPublication::default().edited(&text.is_draft, &text.publish_at)?;
        wanted.push(RequestedGroup {
            group,
            text: text.description_override.null_if_empty(),
            includes_shared_text: text.includes_shared_text,
            publication: is_named.then_some(publication),
        });
    }
    Ok(wanted)
}

/// Returns the topics of a group that are not finished.
pub(super) fn active_topics(group: &GroupDetails) -> Vec<ActiveTopic> {
    let active = group.links.iter().filter(|link| link.assignment.is_active());
    let topic = |link: &GroupAssignmentDetails| ActiveTopic {
        assignment_id: link.assignment.id.clone(),
        course_id: link.assignment.course_id.clone(),
    };
    active.map(topic).collect()
}

/// Attaches groups to a topic, all or none. The caller holds the lock of the class. Groups that are already attached
/// stay unchanged; a different text for one of them is rejected.
pub(super) fn attach_all(
    tx: &mut WriteTx<'_>,
    assignment: &Assignment,
    course: Option<&Course>,
    wanted: Vec<RequestedGroup>,
) -> Result<Attached> {
    let (mut attached, mut astray) = (
        Attached {
            groups: Vec::new(),
            moved: Vec::new(),
        },
        Vec::new(),
    );
    for wanted in wanted {
        let RequestedGroup {
            group: details,
            text,
            includes_shared_text,
            publication,
        } = wanted;
        if let Some(link) = details.links.iter().find(|link| link.assignment.id == assignment.id) {
            keeps_text(&link.link, &text, &includes_shared_text, publication)?;
            continue;
        }
        let publication = publication.unwrap_or_default();
        publication.check_deadline(assignment.deadline, &FieldDiff::new(), tx.now())?;
        let (before, active) = (details.group_context(), active_topics(&details));
        let mut group = details.group;
        let changed = match group.attach(assignment, course, &active, tx.now()) {
            Err(DomainError::CourseMismatch { groups }) => {
                astray.extend(groups);
                continue;
            }
            other => other?,
        };
        if !changed.is_empty() {
            tx.update_group(&group)?;
            attached.moved.push(MovedGroup {
                group: group.id.clone(),
                before,
                changed,
            });
        }
        let has_document = tx.has_linked_document(&assignment.id, &group.id)?;
        let (id, school) = (GroupAssignmentId::new(clock::new_id()), tx.organization().clone());
        tx.insert_link(&GroupAssignment {
            status: GroupAssignmentStatus::at_attachment(has_document),
            description_override: text.resolve(None),
            includes_shared_text: includes_shared_text.value().copied().unwrap_or_default(),
            publication,
            ..GroupAssignment::new(id, school, assignment.id.clone(), group.id.clone(), tx.now())
        })?;
        attached.groups.push(group.id);
    }
    if astray.is_empty() {
        Ok(attached)
    } else {
        Err(DomainError::CourseMismatch { groups: astray }.into())
    }
}

/// Moves all groups of a topic with it to another course, or none of them.
pub(super) fn move_all(
    tx: &mut WriteTx<'_>,
    assignment: &mut Assignment,
    course: Option<&Course>,
    ids: &[GroupId],
) -> Result<Vec<MovedGroup>> {
    let before = groups_of_class(tx, &assignment.class_id, ids)?;
    let mut groups: Vec<(Group, Vec<ActiveTopic>)> = before
        .values()
        .map(|details| (details.group.clone(), active_topics(details)))
        .collect();
    let ids = assignment.move_to(course, &mut groups, tx.now())?;
    let mut moved = Vec::with_capacity(ids.len());
    for (group, _) in groups.into_iter().filter(|(group, _)| ids.contains(&group.id)) {
        tx.update_group(&group)?;
        let (details, mut changed) = (&before[&group.id], FieldDiff::new());
        changed.write("courseId", &mut details.group.course_id.clone(), group.course_id);
        changed.write("subjectId", &mut details.group.subject_id.clone(), group.subject_id);
        moved.push(MovedGroup {
            group: group.id,
            before: details.group_context(),
            changed,
        });
    }
    Ok(moved)
}

/// Records that groups moved with a topic.
pub(super) fn record_moved_groups(tx: &mut WriteTx<'_>, moved: Vec<MovedGroup>) -> Result<()> {
    for MovedGroup { group, before, changed } in moved {
        let group = Box::new(tx.whole_group(&group)?);
        tx.record(GroupChange::Updated { group, before, changed });
    }
    Ok(())
}

/// Rejects a different text or publication for a group that is attached already: a PATCH is needed to change it.
fn keeps_text(
    link: &GroupAssignment,
    text: &FieldPatch<Description>,
    includes_shared_text: &FieldPatch<bool>,
    publication: Option<TopicPublication>,
) -> Result<()> {
    let is_included_alike = includes_shared_text
        .value()
        .is_none_or(|wanted| *wanted == link.includes_shared_text);
    let has_same_text = text.is_unchanged() || text.clone().resolve(None) == link.description_override;
    if has_same_text && is_included_alike && publication.is_none_or(|wanted| wanted == link.publication) {
        Ok(())
    } else {
        Err(Error::Conflict {
            code: ErrorCode::DuplicateGroupAssignment,
            message: "This group is on this topic already, with another text; change the text by editing the topic.",
            path: "groups",
            existing_id: Some(link.id.to_string()),
        })
    }
}

/// Attaches groups to a topic. Returns the links of all groups in the request.
pub fn attach(tx: &mut WriteTx<'_>, id: &AssignmentId, new: &NewGroups) -> Result<Vec<GroupAssignmentDetails>> {
    let details = tx.lock_writable_assignment(id)?;
    let groups = resolve_requested_groups(tx, &details.assignment.class_id, &new.group_ids, &new.groups)?;
    let named: Vec<GroupId> = groups.iter().map(|wanted| wanted.group.group.id.clone()).collect();
    let course = course(tx, details.assignment.course_id.as_ref())?;
    let attached = attach_all(tx, &details.assignment, course.as_ref(), groups)?;
    let details = tx.assignment(id)?.details;
    if !attached.groups.is_empty() {
        let assignment = Box::new(details.clone());
        tx.record(AssignmentChange::GroupsAttached {
            assignment,
            attached: attached.groups,
        });
    }
    record_moved_groups(tx, attached.moved)?;
    Ok(details
        .links
        .into_iter()
        .filter(|link| named.contains(&link.link.group_id))
        .collect())
}

/// Returns the links of the texts in a PATCH. [`Error::NotFound`] for an unknown group; rejects groups that are not
/// on the topic.
pub(super) fn named_links(
    tx: &mut WriteTx<'_>,
    details: &AssignmentDetails,
    texts: &[GroupDescription],
) -> Result<Vec<GroupAssignment>> {
    let find = |text: &GroupDescription| details.links.iter().find(|link| link.link.group_id == text.group_id);
    for text in texts.iter().filter(|text| find(text).is_none()) {
        tx.group(&text.group_id)?;
    }
    let link = |text| {
        find(text)
            .map(|link| link.link.clone())
            .ok_or(DomainError::GroupNotOnAssignment.into())
    };
    texts.iter().map(link).collect()
}

/// Updates group-specific texts and publications. Returns the groups whose links changed.
pub(super) fn edit_links(
    tx: &mut WriteTx<'_>,
    assignment: &Assignment,
    links: Vec<GroupAssignment>,
    texts: &[GroupDescription],
) -> Result<EditedLinks> {
    let mut edited = EditedLinks::default();
    for (mut link, text) in links.into_iter().zip(texts) {
        let edit = GroupAssignmentEdit {
            description_override: text.description_override.clone(),
            includes_shared_text: text.includes_shared_text.clone(),
            is_draft: text.is_draft.clone(),
            publish_at: text.publish_at.clone(),
            ..GroupAssignmentEdit::default()
        };
        let changed = link.edit(edit, assignment, tx.now())?;
        if changed.is_empty() {
            continue;
        }
        tx.update_link(&link)?;
        if changed.has("descriptionOverride") || changed.has("includesSharedText") {
            edited.overridden.push(link.group_id.clone());
        }
        if changed.has("isDraft") || changed.has("publishAt") {
            edited.excepted.push(link.group_id);
        }
    }
    Ok(edited)
}

/// Changes the group-specific text, deadline or publication of one group.
pub fn edit(
    tx: &mut WriteTx<'_>,
    id: &AssignmentId,
    group: &GroupId,
    edit: &GroupAssignmentEdit,
) -> Result<GroupAssignmentDetails> {
    let details = tx.lock_writable_assignment(id)?;
    let mut link = whole_link(details.links, group)?;
    let was_published = link.is_published(tx.now());
    let changed = link.link.edit(edit.clone(), &details.assignment, tx.now())?;
    if changed.is_empty() {
        return Ok(link);
    }
    tx.update_link(&link.link)?;
    tx.record(AssignmentChange::LinkUpdated {
        link: Box::new(link.clone()),
        changed,
        was_published,
    });
    Ok(link)
}

/// Detaches a group from a topic. If the group has submitted, this requires `is_forced` and deletes the submissions.
pub fn detach(tx: &mut WriteTx<'_>, id: &AssignmentId, group: &GroupId, is_forced: bool) -> Result<()> {
    let before = tx.lock_writable_assignment(id)?;
    let link = whole_link(before.links, group)?;
    let was_published = link.is_published(tx.now());
    let submissions = tx.submissions_of_link(&link.link.id)?;
    link.link.detachable(submissions > 0, is_forced)?;
    let CascadeDeletion {
        submissions,
        released,
        files,
        ..
    } = tx.detach_group(&link.link.id)?;
    let assignment = Box::new(tx.assignment(id)?.details);
    tx.record(AssignmentChange::GroupDetached {
        assignment,
        group_context: link.group_context,
        was_published,
        submissions,
        released,
        files,
    });
    Ok(())
}

fn whole_link(links: Vec<GroupAssignmentDetails>, group: &GroupId) -> Result<GroupAssignmentDetails> {
    links
        .into_iter()
        .find(|link| link.link.group_id == *group)
        .ok_or(Error::NotFound)
}
