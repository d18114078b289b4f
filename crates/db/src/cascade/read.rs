//! Reads what a deletion removes, before it runs: the input of log, events and file removal.

use std::collections::HashMap;

use domain::change::{CascadeDeletion, DeletedAssignment, DeletedCourse, DeletedGroup, GroupDocument};
use domain::file::FileKey;
use domain::group::GroupContext;
use domain::id::{AssignmentId, ClassId, GroupId, UserId};
use domain::publication::TopicPublication;

use super::deletion_plan::DeletionPlan;
use crate::documents::document;
use crate::labels::group_context;
use crate::{ReadTx, args, from_row, statements};
use common::error::Result;

statements! {
    COURSES = "SELECT id, name FROM courses WHERE organization_id = $1 AND class_id = $2 ORDER BY sort_key, id";
}

impl ReadTx<'_> {
    /// Reads everything that is deleted with the entity of this id.
    pub(super) fn read_deletion(&mut self, plan: &'static DeletionPlan, id: &str) -> Result<CascadeDeletion> {
        let mut removed = CascadeDeletion {
            groups: self.deleted_groups(plan, id)?,
            assignments: self.deleted_topics(plan, id)?,
            files: self.fetch_all(&plan.files, args![id], |row| row.get::<FileKey>("file_key"))?,
            ..CascadeDeletion::default()
        };
        (removed.documents, removed.submissions, removed.messages) =
            self.fetch_one(&plan.counts, args![id], |row| {
                Ok((row.get("documents")?, row.get("submissions")?, row.get("messages")?))
            })?;
        let (now, detached_topics) = (
            self.now(),
            self.fetch_all(&plan.detached_topics, args![id], |row| row.only::<AssignmentId>())?,
        );
        removed.released = self.fetch_all(&plan.detached_documents, args![id], |row| {
            let (group_context, mut document) = (group_context(row)?, document(row)?);
            // The same rule as the UPDATE that follows; `tests/api/cascade.rs` compares the results.
            let topics = [document.locked_by_assignment_id.clone(), document.assignment_id.clone()];
            for topic in topics.iter().flatten().filter(|topic| detached_topics.contains(topic)) {
                document.release(topic, now);
            }
            Ok(GroupDocument {
                group_context,
                document,
            })
        })?;
        Ok(removed)
    }

    pub(super) fn deleted_courses(&mut self, class: &ClassId) -> Result<Vec<DeletedCourse>> {
        self.fetch_all(
            &COURSES,
            args![class],
            |row| from_row!(row => DeletedCourse { id, name }),
        )
    }

    fn deleted_groups(&mut self, plan: &'static DeletionPlan, id: &str) -> Result<Vec<DeletedGroup>> {
        let mut members: HashMap<GroupId, Vec<UserId>> = HashMap::new();
        for (group, user) in self.fetch_all(&plan.members, args![id], |row| row.pair("group_id", "user_id"))? {
            members.entry(group).or_default().push(user);
        }
        self.fetch_all(&plan.groups, args![id], |row| {
            let group_context = group_context(row)?;
            let members = members.remove(&group_context.group.id).unwrap_or_default();
            Ok(DeletedGroup { group_context, members })
        })
    }

    fn deleted_topics(&mut self, plan: &'static DeletionPlan, id: &str) -> Result<Vec<DeletedAssignment>> {
        let mut group_contexts: HashMap<AssignmentId, Vec<GroupContext>> = HashMap::new();
        let now = self.now();
        for (topic, group_context, publication) in self.fetch_all(&plan.topic_groups, args![id], |row| {
            let of_topic = from_row!(row => TopicPublication { is_draft, publish_at })?;
            let own = from_row!(row => TopicPublication {
                is_draft = "link_is_draft", publish_at = "link_publish_at",
            })?;
            Ok((row.get("assignment_id")?, group_context(row)?, of_topic.for_group(own)))
        })? {
            if publication.is_published(now) {
                group_contexts.entry(topic).or_default().push(group_context);
            }
        }
        self.fetch_all(&plan.topics, args![id], |row| {
            let id: AssignmentId = row.get("id")?;
            from_row!(row => DeletedAssignment {
                title, course_id,
                group_contexts: group_contexts.remove(&id).unwrap_or_default(),
                id: id,
            })
        })
    }
}
