//! Groups with their members, topics and files. The SQL fragments of `visibility.rs` decide whether a viewer can view a
//! group or only list its outline; data that is invisible to the viewer is never read.

mod files;
mod links;
mod members;
mod queries;

use domain::{collation, from_fields};
use std::collections::HashMap;

use domain::details::{GroupAssignmentDetails, GroupDetails};
use domain::group::{Group, GroupMember};
use domain::help::{HelpColumns, HelpFlag};
use domain::id::{AssignmentId, ClassId, CourseId, GroupAssignmentId, GroupId, SubjectId, UserId};
use domain::number::{GroupNumber, RequiredDocuments};
use domain::text::{ShortName, name_key};

use self::queries::GroupQueries;
pub(super) use self::queries::OWN_GROUPS;
use super::sql::{Columns, NamedStatements, Sql, Value};
use super::{ReadTx, WriteTx};
use crate::labels::{class_label, optional_course_label, optional_subject_label, person};
use crate::{args, fragments, from_row, named, statements};
use common::error::{Error, Result};

fragments! {
    /// The columns of [`group`] for group `g` with work room `w`.
    GROUP_COLUMNS = "g.id, g.organization_id, g.class_id, w.id AS work_room_id, g.name, g.group_number, g.display_name,
        g.start_date, g.meeting_place, g.required_documents, g.subject_id, g.course_id, g.help_requested_at,
        g.help_message, g.help_requested_by_id, g.help_claimed_by_id, g.help_resolved_at,
        g.help_resolved_by_id, g.help_withdrawn_at, g.created_by_id, g.created_at, g.updated_at";
}

statements! {
    /// Locks the row until the end of the transaction.
    LOCK = "SELECT id FROM groups WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE";
    HIGHEST_NUMBER = "SELECT MAX(group_number) FROM groups WHERE organization_id = $1 AND class_id = $2";
    INSERT = "INSERT INTO groups (organization_id, id, name, name_key, group_number, display_name, start_date,
            required_documents, class_id, subject_id, course_id, created_by_id, created_at, updated_at, search_key,
            meeting_place)
        VALUES ($1, :id, :name, :name_key, :group_number, :display_name, :start_date, :required_documents, :class_id,
            :subject_id, :course_id, :created_by_id, :created_at, :updated_at, :search_key, :meeting_place)";
    /// Updates every field of a group except the help flag.
    UPDATE = "UPDATE groups SET name = :name, name_key = :name_key, group_number = :group_number,
            display_name = :display_name, start_date = :start_date, required_documents = :required_documents,
            subject_id = :subject_id, course_id = :course_id, updated_at = :updated_at, search_key = :search_key,
            meeting_place = :meeting_place
        WHERE organization_id = $1 AND id = :id";
    /// Updates the help flag of a group.
    UPDATE_HELP = "UPDATE groups SET needs_help = $3, help_requested_at = $4, help_message = $5,
        help_requested_by_id = $6,
            help_claimed_by_id = $7, help_resolved_at = $8, help_resolved_by_id = $9, updated_at = $10,
            help_withdrawn_at = $11
        WHERE organization_id = $1 AND id = $2";
}

/// The statements of this file and of its submodules, for the tests of all SQL.
pub fn all_statements() -> Vec<(&'static str, NamedStatements)> {
    vec![
        ("groups", STATEMENTS.to_vec()),
        ("groups::files", files::STATEMENTS.to_vec()),
        ("groups::members", members::STATEMENTS.to_vec()),
        ("groups::one", queries::ONE.statements()),
        ("groups::one::current", queries::ONE.current.statements()),
        ("groups::of_class", queries::OF_CLASS.statements()),
        ("groups::of_class::current", queries::OF_CLASS.current.statements()),
        ("groups::all", queries::ALL.statements()),
        ("groups::all::current", queries::ALL.current.statements()),
        ("groups::of_student", queries::OF_STUDENT.statements()),
        ("groups::of_student::current", queries::OF_STUDENT.current.statements()),
        ("groups::of_member", queries::OF_MEMBER.statements()),
        ("groups::of_member::current", queries::OF_MEMBER.current.statements()),
    ]
}

/// A group as visible to the viewer.
#[derive(Debug, Clone)]
pub struct VisibleGroup {
    /// Without members, topics and files if the viewer can only list the group.
    pub details: GroupDetails,
    /// Whether the viewer can view the group; otherwise only its outline is visible.
    pub has_full_access: bool,
    pub member_count: i64,
    /// The number of messages in its room that the user has not read.
    pub unread: i64,
}

/// The filter of a list of groups by course.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CourseChoice {
    /// Groups without a course.
    None,
    Of(CourseId),
}

/// Restricts a list of groups. A `None` field does not restrict.
#[derive(Debug, Clone, Default)]
pub struct GroupFilter {
    pub class_id: Option<ClassId>,
    pub course: Option<CourseChoice>,
    pub subject_id: Option<SubjectId>,
    pub assignment_id: Option<AssignmentId>,
    /// Groups with or without a help request.
    pub needs_help: Option<bool>,
    /// Matches a part of the name or of the display name.
    pub search: Option<String>,
    /// Only groups of classes the user owns or co-teaches, or groups the user is a member of.
    pub mine: bool,
}

impl ReadTx<'_> {
    /// Returns a group, or at least its outline.
    pub fn group(&mut self, id: &GroupId) -> Result<VisibleGroup> {
        let user = self.user_text();
        let found = self.load(&queries::ONE, args![user, id])?;
        found.into_iter().next().ok_or(Error::NotFound)
    }

    /// Returns a group with its members, topics and files, or `NotFound` if the viewer cannot view it.
    pub fn whole_group(&mut self, id: &GroupId) -> Result<GroupDetails> {
        let known = self.group(id)?;
        if known.has_full_access {
            Ok(known.details)
        } else {
            Err(Error::NotFound)
        }
    }

    /// Lists the matching groups by number; those whose name begins with the search text come first.
    pub fn groups(&mut self, filter: &GroupFilter) -> Result<Vec<VisibleGroup>> {
        let user = self.user_text();
        let course = filter.course.as_ref().map(|course| match course {
            CourseChoice::None => "",
            CourseChoice::Of(id) => id.as_str(),
        });
        let search = filter.search.as_deref().map(super::pattern);
        let set = match (self.viewer().is_staff(), &filter.class_id) {
            (false, _) => &queries::OF_STUDENT,
            (true, Some(_)) => &queries::OF_CLASS,
            (true, None) => &queries::ALL,
        };
        let arguments = args![
            user,
            filter.class_id,
            course,
            filter.subject_id,
            filter.assignment_id,
            filter.needs_help,
            search,
            filter.mine,
        ];
        self.load(set, arguments)
    }

    /// Lists the groups of a class on a topic, by number, with their members only.
    pub fn groups_on_topic(&mut self, class: &ClassId, topic: &AssignmentId) -> Result<Vec<VisibleGroup>> {
        let (user, nothing) = (self.user_text(), None::<&str>);
        let arguments = args![user, class, nothing, nothing, topic, None::<bool>, nothing, false];
        self.load_with_members(&queries::OF_CLASS, arguments)
    }

    /// Lists the groups of a student that the viewer can view, by number.
    pub fn groups_of(&mut self, student: &UserId) -> Result<Vec<VisibleGroup>> {
        let user = self.user_text();
        self.load(&queries::OF_MEMBER, args![user, student])
    }

    /// Returns the id of the calling user, for data that depends on the user; empty for calls by the service itself.
    pub(super) fn user_text(&self) -> String {
        self.actor().user.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    /// Reads a set of groups with one statement per kind of child, and attaches each row to its group.
    fn load(&mut self, set: &'static GroupQueries, arguments: &[Value<'_>]) -> Result<Vec<VisibleGroup>> {
        let mut groups = self.load_with_members(set, arguments)?;
        if !groups.iter().any(|group| group.has_full_access) {
            return Ok(groups);
        }
        let indexes = indexes(&groups);
        for file in self.fetch_all_visible(&set.files, arguments, links::group_file)? {
            if let Some(index) = indexes.get(&file.group_id) {
                groups[*index].details.attachments.push(file);
            }
        }
        let mut rows = self.fetch_all_visible(&set.links, arguments, links::link_row)?;
        let current = rows
            .iter_mut()
            .filter_map(|row| row.current_submission.as_mut())
            .collect();
        self.fill_current(&set.current, arguments, current)?;
        let mut files: HashMap<GroupAssignmentId, Vec<_>> = HashMap::new();
        if !rows.is_empty() {
            for (link, file) in self.fetch_all_visible(&set.topic_files, arguments, links::topic_file)? {
                files.entry(link).or_default().push(file);
            }
        }
        for row in rows {
            if let Some(index) = indexes.get(&row.link.group_id) {
                let details = &mut groups[*index].details;
                details.links.push(from_fields!(row => GroupAssignmentDetails {
                    attachments: files.remove(&row.link.id).unwrap_or_default(),
                    link, assignment, submitted_count, current_submission,
                    group_context: details.group_context(),
                }));
            }
        }
        Ok(groups)
    }

    /// Reads a set of groups with their members.
    fn load_with_members(&mut self, set: &'static GroupQueries, arguments: &[Value<'_>]) -> Result<Vec<VisibleGroup>> {
        let mut groups = self.fetch_all_visible(&set.groups, arguments, visible_group)?;
        if !groups.iter().any(|group| group.has_full_access) {
            return Ok(groups);
        }
        let indexes = indexes(&groups);
        for member in self.fetch_all_visible(&set.members, arguments, member)? {
            if let Some(index) = indexes.get(&member.group_id) {
                groups[*index].details.members.push(member);
            }
        }
        Ok(groups)
    }
}

impl WriteTx<'_> {
    /// Locks a group and its class until the end of the transaction. Requires that the viewer manages the class and
    /// that the class is not archived.
    pub fn lock_writable_group(&mut self, id: &GroupId) -> Result<GroupDetails> {
        // Lock order: the class before its children.
        let class = self.group(id)?.details.group.class_id;
        self.lock_writable_class(&class)?;
        self.lock_group(id)?;
        self.whole_group(id)
    }

    /// Locks a group until the end of the transaction to change its help flag; `NotFound` if the viewer cannot view it.
    pub fn lock_group_for_help(&mut self, id: &GroupId) -> Result<GroupDetails> {
        self.lock_group(id)?;
        self.whole_group(id)
    }

    fn lock_group(&mut self, id: &GroupId) -> Result<()> {
        self.fetch_one(&LOCK, args![id], |row| row.get::<GroupId>("id"))
            .map(drop)
    }

    /// Returns the number for the next group of a class. The caller holds the lock of the class.
    pub fn next_group_number(&mut self, class: &ClassId) -> Result<GroupNumber> {
        let highest: Option<i64> = self.fetch_one(&HIGHEST_NUMBER, args![class], |row| row.only())?;
        Ok(Group::next_number(highest.map(GroupNumber::stored))?)
    }

    /// Inserts a group with its work room; a number that is in use is `DUPLICATE_GROUP_NUMBER`.
    pub fn insert_group(&mut self, new: &Group) -> Result<()> {
        self.write_group(&INSERT, new)?;
        self.insert_work_room(&new.work_room_id, &new.id)
    }

    /// Updates every field of a group except the help flag.
    pub fn update_group(&mut self, group: &Group) -> Result<()> {
        self.write_group(&UPDATE, group)
    }

    fn write_group(&mut self, statement: &'static Sql, group: &Group) -> Result<()> {
        self.execute_named(
            statement,
            named![group =>
                id, name, display_name, start_date, meeting_place, class_id, subject_id, course_id, created_by_id,
                created_at, updated_at,
                name_key: names_key(group),
                group_number: group.group_number.get(),
                required_documents: group.required_documents.get(),
                search_key: search_key(group.name.as_str(), group.display_name.as_ref().map(ShortName::as_str)),
            ],
        )
    }

    /// Updates only the help flag of a group.
    pub fn update_help(&mut self, group: &Group) -> Result<()> {
        let help = HelpColumns::from(group.help.clone());
        self.execute(
            &UPDATE_HELP,
            args![
                group.id,
                group.help.needs_help(),
                help.requested_at,
                help.message,
                help.requested_by_id,
                help.claimed_by_id,
                help.resolved_at,
                help.resolved_by_id,
                group.updated_at,
                help.withdrawn_at,
            ],
        )
    }
}

/// Maps each group to its index.
fn indexes(groups: &[VisibleGroup]) -> HashMap<GroupId, usize> {
    let ids = groups.iter().map(|known| known.details.group.id.clone());
    ids.enumerate().map(|(index, id)| (id, index)).collect()
}

/// Builds the search key: the name, then after a line break (which no name contains) the display name.
pub(super) fn search_key(name: &str, display_name: Option<&str>) -> String {
    match display_name {
        Some(display_name) => collation::search_key(&format!("{name}\n{display_name}")),
        None => collation::search_key(name),
    }
}

/// Both names in lower case, in the column that the previous release searches.
fn names_key(group: &Group) -> String {
    let mut key = name_key(group.name.as_str());
    if let Some(display_name) = &group.display_name {
        key.push('\n');
        key.push_str(&name_key(display_name.as_str()));
    }
    key
}

fn visible_group(row: &Columns<'_>) -> Result<VisibleGroup> {
    let group = group(row)?;
    let (class, course, subject) = (
        class_label(row)?,
        optional_course_label(row)?,
        optional_subject_label(row)?,
    );
    let details = GroupDetails {
        group,
        class,
        course,
        subject,
        members: Vec::new(),
        links: Vec::new(),
        attachments: Vec::new(),
    };
    from_row!(row => VisibleGroup { member_count, unread, has_full_access, details: details })
}

fn group(row: &Columns<'_>) -> Result<Group> {
    from_row!(row => Group {
        id, organization_id, class_id, work_room_id, name, display_name, start_date, meeting_place, subject_id,
        course_id, created_by_id, created_at, updated_at,
        group_number: GroupNumber::stored(row.get("group_number")?),
        required_documents: RequiredDocuments::stored(row.get("required_documents")?),
        help: HelpFlag::from(from_row!(row => HelpColumns {
            requested_at = "help_requested_at", message = "help_message", requested_by_id = "help_requested_by_id",
            claimed_by_id = "help_claimed_by_id", resolved_at = "help_resolved_at",
            resolved_by_id = "help_resolved_by_id", withdrawn_at = "help_withdrawn_at",
        })?),
    })
}

fn member(row: &Columns<'_>) -> Result<GroupMember> {
    let group_id = row.get("group_id")?;
    let id = row.get("id")?;
    let user = person(row)?;
    from_row!(row => GroupMember {
        email, role, joined_at,
        id: id,
        group_id: group_id,
        user: user,
    })
}
