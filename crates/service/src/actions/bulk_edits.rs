//! The bulk edit of a topic: changes what all its groups share, in one transaction. It cannot change members, or
//! texts and files of single groups, because [`BulkAssignmentEdit`] has no fields for them.

use std::collections::BTreeMap;

use domain::assignment::{Assignment, BulkAssignmentEdit};
use domain::change::{AssignmentChange, StartDateChange};
use domain::details::AssignmentDetails;
use domain::file::AssignmentAttachment;
use domain::group::Group;
use domain::id::{AssignmentId, AttachmentId, GroupId, SubmissionId};
use domain::patch::{FieldDiff, FieldPatch};
use domain::submission::Submission;
use domain::text::FileName;
use domain::time::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::attachments::room_for;
use super::group_assignments::{MovedGroup, groups_of_class};
use common::error::{Error, Result};
use db::WriteTx;
use db::assignments::VisibleAssignment;

/// The result of a bulk edit or its dry run.
#[derive(Debug, Clone)]
pub struct BulkEdited {
    /// The topic after the edit.
    pub seen: VisibleAssignment,
    /// All groups of the topic.
    pub affected: Vec<GroupId>,
    /// The changes that were made, or would be made.
    pub changed: FieldDiff,
}

/// The options of a bulk edit.
#[derive(Debug, Clone, Copy, Default)]
pub struct BulkOptions {
    /// Only report what would change.
    pub is_dry: bool,
    /// Recalculate how late the submissions were.
    pub recompute_late: bool,
}

/// All validated writes of a bulk edit.
struct BulkEditPlan {
    assignment: Assignment,
    changed: FieldDiff,
    groups: Vec<(Group, MovedGroup)>,
    added: Vec<AttachmentId>,
    removed: Vec<AssignmentAttachment>,
    recomputed: Vec<Submission>,
    published_before: Vec<GroupId>,
}

/// Changes what all groups of a topic share. A dry run takes the same path up to the first write.
pub fn bulk(
    tx: &mut WriteTx<'_>,
    id: &AssignmentId,
    edit: &BulkAssignmentEdit,
    options: BulkOptions,
) -> Result<BulkEdited> {
    let details = tx.lock_writable_assignment(id)?;
    let affected = details.group_ids();
    let plan = plan(tx, &details, edit, options.recompute_late)?;
    if options.is_dry || plan.changed.is_empty() {
        return Ok(BulkEdited {
            seen: tx.assignment(id)?,
            affected,
            changed: plan.changed,
        });
    }
    let changed = plan.changed.clone();
    write(tx, id, plan)?;
    Ok(BulkEdited {
        seen: tx.assignment(id)?,
        affected,
        changed,
    })
}

fn plan(
    tx: &mut WriteTx<'_>,
    details: &AssignmentDetails,
    edit: &BulkAssignmentEdit,
    recompute_late: bool,
) -> Result<BulkEditPlan> {
    let mut assignment = details.assignment.clone();
    let staged = tx.staged_files(&assignment.id)?;
    let shared: Vec<_> = details
        .attachments
        .iter()
        .filter(|file| file.group_assignment_id.is_none())
        .cloned()
        .collect();
    // Ids that do not belong to this topic are not found, whatever the state of the topic.
    let added = find_attachments(&staged, &edit.add_attachment_ids)?;
    let removed = find_attachments(&shared, &edit.remove_attachment_ids)?;
    let mut changed = assignment.edit_shared(edit, tx.now())?;
    if !added.is_empty() {
        room_for(details.attachments.len() + added.len() - removed.len())?;
    }
    let published_before = details.published_groups(tx.now());
    for link in &details.links {
        let was_published = published_before.contains(&link.link.group_id);
        link.link.check_still_published(was_published, &assignment, tx.now())?;
    }
    let start_date = tx.patched_timestamp(&edit.start_date)?;
    let groups = starts(tx, details, &start_date, &mut changed)?;
    let after = shared.iter().filter(|file| !removed.contains(file)).chain(&added);
    changed.write("attachments", &mut named_files(&shared), named_files(after));
    let recomputed = if recompute_late {
        recompute_late_status(tx, details, &assignment, &mut changed)?
    } else {
        Vec::new()
    };
    if !changed.is_empty() {
        assignment.updated_at = tx.now();
    }
    let added = added.into_iter().map(|file| file.id).collect();
    Ok(BulkEditPlan {
        assignment,
        changed,
        groups,
        added,
        removed,
        recomputed,
        published_before,
    })
}

fn write(tx: &mut WriteTx<'_>, id: &AssignmentId, plan: BulkEditPlan) -> Result<()> {
    tx.update_assignment(&plan.assignment)?;
    for (group, _) in &plan.groups {
        tx.update_group(group)?;
    }
    for file in &plan.added {
        tx.publish_file(file)?;
    }
    for file in &plan.removed {
        tx.delete_file(&file.id)?;
    }
    for submission in &plan.recomputed {
        tx.update_lateness(&submission.id, submission.lateness)?;
    }
    let mut moved = Vec::with_capacity(plan.groups.len());
    for (_, MovedGroup { group, before, .. }) in plan.groups {
        moved.push(StartDateChange {
            group: tx.whole_group(&group)?,
            before,
        });
    }
    let assignment = Box::new(tx.assignment(id)?.details);
    let files = plan.removed.into_iter().map(|file| file.file.key).collect();
    tx.record(AssignmentChange::BulkUpdated {
        assignment,
        changed: plan.changed,
        moved,
        published_before: plan.published_before,
        files,
    });
    Ok(())
}

/// Returns the files with these ids; [`Error::NotFound`] if one is not in `files`.
fn find_attachments(files: &[AssignmentAttachment], ids: &[AttachmentId]) -> Result<Vec<AssignmentAttachment>> {
    let find = |id: &AttachmentId| files.iter().find(|file| file.id == *id).cloned().ok_or(Error::NotFound);
    ids.iter().map(find).collect()
}

/// Sets the start date of every group of the topic. Returns the groups whose start date changes.
fn starts(
    tx: &mut WriteTx<'_>,
    details: &AssignmentDetails,
    start_date: &FieldPatch<Timestamp>,
    changed: &mut FieldDiff,
) -> Result<Vec<(Group, MovedGroup)>> {
    let mut moved = Vec::new();
    if start_date.is_unchanged() {
        return Ok(moved);
    }
    let mut from = BTreeMap::new();
    for (id, details) in groups_of_class(tx, &details.assignment.class_id, &details.group_ids())? {
        let (before, mut group) = (details.group_context(), details.group);
        from.insert(id.to_string(), group.start_date);
        let changed = group.start_on(start_date.clone(), tx.now());
        if !changed.is_empty() {
            moved.push((
                group,
                MovedGroup {
                    group: id,
                    before,
                    changed,
                },
            ));
        }
    }
    if !moved.is_empty() {
        changed.write("startDate", &mut common(&from), json(&start_date.value()));
    }
    Ok(moved)
}

/// Returns the common value if all groups agree, else the value of each group.
fn common(dates: &BTreeMap<String, Option<Timestamp>>) -> Value {
    let mut values = dates.values();
    let first = values.next();
    if values.all(|date| Some(date) == first) {
        json(&first)
    } else {
        json(dates)
    }
}

/// How late a submission was, as logged.
#[derive(PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct LateStatus {
    submission_id: SubmissionId,
    late_by_seconds: i64,
}

/// Returns the submissions whose lateness changes with the new deadline.
fn recompute_late_status(
    tx: &mut WriteTx<'_>,
    details: &AssignmentDetails,
    assignment: &Assignment,
    changed: &mut FieldDiff,
) -> Result<Vec<Submission>> {
    let (mut recomputed, mut from) = (Vec::new(), Vec::new());
    for mut submission in tx.submissions_of(&assignment.id)? {
        let link = details
            .links
            .iter()
            .find(|link| link.link.id == submission.group_assignment_id);
        let before = late_status(&submission);
        if link.is_some_and(|link| submission.update_lateness(&link.link, assignment)) {
            from.push(before);
            recomputed.push(submission);
        }
    }
    changed.write("lateness", &mut from, recomputed.iter().map(late_status).collect());
    Ok(recomputed)
}

fn late_status(submission: &Submission) -> LateStatus {
    LateStatus {
        submission_id: submission.id.clone(),
        late_by_seconds: submission.lateness.late_by_seconds,
    }
}

/// A file, as logged.
#[derive(PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct LoggedFile {
    id: AttachmentId,
    file_name: FileName,
}

fn named_files<'f>(files: impl IntoIterator<Item = &'f AssignmentAttachment>) -> Vec<LoggedFile> {
    let named = |file: &AssignmentAttachment| LoggedFile {
        id: file.id.clone(),
        file_name: file.file.file_name.clone(),
    };
    files.into_iter().map(named).collect()
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("dates are texts, which JSON can always say")
}
