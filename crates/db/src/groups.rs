//! Groups with their members, topics and files. Who sees the inside of a group and who may only know its outline is
//! decided in SQL by the fragments of `visible.rs`; what a viewer does not see is never read for him.

mod files;
mod known;
mod links;
mod members;

use std::collections::HashMap;

use model::class::{ClassLabel, ClassStatus};
use model::collation;
use model::course::CourseLabel;
use model::group::{Group, GroupMember, GroupRole};
use model::help::{HelpColumns, HelpFlag};
use model::id::{AssignmentId, ClassId, CourseId, GroupAssignmentId, GroupId, SubjectId, UserId};
use model::number::{GroupNumber, RequiredDocuments};
use model::subject::SubjectLabel;
use model::text::{ShortName, name_key};
use model::user::Person;
use model::whole::{WholeGroup, WholeGroupAssignment};

use self::known::Known;
pub(super) use self::known::own_groups;
use super::sql::{Columns, Sql, Value};
use super::{Scope, Work};
use crate::{args, statements};
use common::error::{Error, Result};

statements! {
    /// Takes the row for this unit.
    LOCK = "SELECT id FROM groups WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE";
    /// The highest number in a class.
    HIGHEST_NUMBER = "SELECT MAX(group_number) FROM groups WHERE organization_id = $1 AND class_id = $2";
    /// A new group.
    INSERT = "INSERT INTO groups (organization_id, id, name, name_key, group_number, display_name, start_date,
            required_documents, class_id, subject_id, course_id, created_by_id, created_at, updated_at, search_key)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    /// All fields of a group but its help flag.
    UPDATE = "UPDATE groups SET name = $3, name_key = $4, group_number = $5, display_name = $6, start_date = $7,
            required_documents = $8, subject_id = $9, course_id = $10, updated_at = $11, search_key = $12
        WHERE organization_id = $1 AND id = $2";
    /// The help flag of a group.
    UPDATE_HELP = "UPDATE groups SET needs_help = $3, help_requested_at = $4, help_message = $5, help_requested_by_id = $6,
            help_claimed_by_id = $7, help_resolved_at = $8, help_resolved_by_id = $9, updated_at = $10
        WHERE organization_id = $1 AND id = $2";
}

/// The statements of this file and of those below it.
pub fn all_statements() -> Vec<(&'static str, &'static [(&'static str, &'static Sql)])> {
    vec![
        ("groups", STATEMENTS),
        ("groups::files", files::STATEMENTS),
        ("groups::members", members::STATEMENTS),
        ("groups::one", known::one::STATEMENTS),
        ("groups::one::current", known::one::current::STATEMENTS),
        ("groups::of_class::current", known::of_class::current::STATEMENTS),
        ("groups::all::current", known::all::current::STATEMENTS),
        ("groups::of_student::current", known::of_student::current::STATEMENTS),
        ("groups::of_class", known::of_class::STATEMENTS),
        ("groups::all", known::all::STATEMENTS),
        ("groups::of_student", known::of_student::STATEMENTS),
        ("groups::of_member", known::of_member::STATEMENTS),
        ("groups::of_member::current", known::of_member::current::STATEMENTS),
    ]
}

/// A group as far as the viewer may know it.
#[derive(Debug, Clone)]
pub struct KnownGroup {
    /// The group; without members, topics and files when he may only know its outline.
    pub whole: WholeGroup,
    /// Whether he sees the inside.
    pub is_seen: bool,
    /// How many are in it.
    pub member_count: i64,
    /// Messages of its room that the user has not read.
    pub unread: i64,
}

/// The course a list of groups asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CourseChoice {
    /// Groups without a course.
    None,
    /// Groups of this course.
    Of(CourseId),
}

/// Which groups a list shows; every part may be absent.
#[derive(Debug, Clone, Default)]
pub struct GroupFilter {
    /// Of this class.
    pub class_id: Option<ClassId>,
    /// Of this course, or of none.
    pub course: Option<CourseChoice>,
    /// Of this subject.
    pub subject_id: Option<SubjectId>,
    /// On this topic.
    pub assignment_id: Option<AssignmentId>,
    /// That ask for help, or do not.
    pub needs_help: Option<bool>,
    /// Whose name or display name contains this.
    pub search: Option<String>,
    /// Of the user's own classes, or those he is in.
    pub mine: bool,
}

impl Scope<'_> {
    /// One group, at least its outline.
    pub fn group(&mut self, id: &GroupId) -> Result<KnownGroup> {
        let user = self.user_text();
        let found = self.known(&known::one::KNOWN, args![user, id])?;
        found.into_iter().next().ok_or(Error::NotFound)
    }

    /// One group with everything around it, if the viewer sees its inside.
    pub fn whole_group(&mut self, id: &GroupId) -> Result<WholeGroup> {
        let known = self.group(id)?;
        if known.is_seen {
            Ok(known.whole)
        } else {
            Err(Error::NotFound)
        }
    }

    /// The groups that match: by number, those whose name begins with the search text first.
    pub fn groups(&mut self, filter: &GroupFilter) -> Result<Vec<KnownGroup>> {
        let user = self.user_text();
        let course = filter.course.as_ref().map(|course| match course {
            CourseChoice::None => "",
            CourseChoice::Of(id) => id.as_str(),
        });
        let search = filter.search.as_deref().map(super::pattern);
        let set = match (self.viewer().is_staff(), &filter.class_id) {
            (false, _) => &known::of_student::KNOWN,
            (true, Some(_)) => &known::of_class::KNOWN,
            (true, None) => &known::all::KNOWN,
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
        self.known(set, arguments)
    }

    /// The groups of one class on a topic, by number, with their members and nothing else.
    pub fn groups_on_topic(&mut self, class: &ClassId, topic: &AssignmentId) -> Result<Vec<KnownGroup>> {
        let (user, nothing) = (self.user_text(), None::<&str>);
        let arguments = args![user, class, nothing, nothing, topic, None::<bool>, nothing, false];
        self.with_members(&known::of_class::KNOWN, arguments)
    }

    /// The groups of one student whose inside the viewer sees, by number.
    pub fn groups_of(&mut self, student: &UserId) -> Result<Vec<KnownGroup>> {
        let user = self.user_text();
        self.known(&known::of_member::KNOWN, args![user, student])
    }

    /// The user who asks, for what differs from person to person; empty when the service itself asks.
    pub(super) fn user_text(&self) -> String {
        self.actor().user.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    /// Reads a set of groups, one statement for each kind of child, and puts every row to its group.
    fn known(&mut self, set: &'static Known, arguments: &[Value<'_>]) -> Result<Vec<KnownGroup>> {
        let mut groups = self.with_members(set, arguments)?;
        if !groups.iter().any(|group| group.is_seen) {
            return Ok(groups);
        }
        let places = places(&groups);
        for file in self.many_visible(set.files, arguments, links::group_file)? {
            if let Some(place) = places.get(&file.group_id) {
                groups[*place].whole.attachments.push(file);
            }
        }
        let mut rows = self.many_visible(set.links, arguments, links::link_row)?;
        let current = rows
            .iter_mut()
            .filter_map(|row| row.current_submission.as_mut())
            .collect();
        self.fill_current(set.current, arguments, current)?;
        let mut files: HashMap<GroupAssignmentId, Vec<_>> = HashMap::new();
        if !rows.is_empty() {
            for (link, file) in self.many_visible(set.topic_files, arguments, links::topic_file)? {
                files.entry(link).or_default().push(file);
            }
        }
        for row in rows {
            if let Some(place) = places.get(&row.link.group_id) {
                let whole = &mut groups[*place].whole;
                whole.links.push(WholeGroupAssignment {
                    place: whole.place(),
                    attachments: files.remove(&row.link.id).unwrap_or_default(),
                    link: row.link,
                    assignment: row.assignment,
                    submitted_count: row.submitted_count,
                    current_submission: row.current_submission,
                });
            }
        }
        Ok(groups)
    }

    /// Reads a set of groups with their members.
    fn with_members(&mut self, set: &'static Known, arguments: &[Value<'_>]) -> Result<Vec<KnownGroup>> {
        let mut groups = self.many_visible(set.groups, arguments, known_group)?;
        if !groups.iter().any(|group| group.is_seen) {
            return Ok(groups);
        }
        let places = places(&groups);
        for member in self.many_visible(set.members, arguments, member)? {
            if let Some(place) = places.get(&member.group_id) {
                groups[*place].whole.members.push(member);
            }
        }
        Ok(groups)
    }
}

impl Work<'_> {
    /// One group, held with its class until this unit ends; the viewer manages the class and it is not archived.
    pub fn group_to_write(&mut self, id: &GroupId) -> Result<WholeGroup> {
        // The class first: everybody takes locks in the same order, from the class downwards.
        let class = self.group(id)?.whole.group.class_id;
        self.class_to_write(&class)?;
        self.hold_group(id)?;
        self.whole_group(id)
    }

    /// One group whose help flag changes, held until this unit ends; whoever sees its inside may come this far.
    pub fn group_to_help(&mut self, id: &GroupId) -> Result<WholeGroup> {
        self.hold_group(id)?;
        self.whole_group(id)
    }

    fn hold_group(&mut self, id: &GroupId) -> Result<()> {
        self.one(&LOCK, args![id], |row| row.take::<GroupId>()).map(drop)
    }

    /// The number of the next group of a class; the caller holds the class.
    pub fn next_group_number(&mut self, class: &ClassId) -> Result<GroupNumber> {
        let highest: Option<i64> = self.one(&HIGHEST_NUMBER, args![class], |row| row.take())?;
        Ok(Group::next_number(highest.map(GroupNumber::stored))?)
    }

    /// Writes a new group with its one work room; a taken number is `DUPLICATE_GROUP_NUMBER`.
    pub fn insert_group(&mut self, new: &Group) -> Result<()> {
        self.run(
            &INSERT,
            args![
                new.id,
                new.name,
                names_key(new),
                new.group_number.get(),
                new.display_name,
                new.start_date,
                new.required_documents.get(),
                new.class_id,
                new.subject_id,
                new.course_id,
                new.created_by_id,
                new.created_at,
                new.updated_at,
                search_key(new.name.as_str(), new.display_name.as_ref().map(ShortName::as_str)),
            ],
        )?;
        self.insert_work_room(&new.work_room_id, &new.id)
    }

    /// Writes all fields of a group but its help flag.
    pub fn update_group(&mut self, group: &Group) -> Result<()> {
        self.run(
            &UPDATE,
            args![
                group.id,
                group.name,
                names_key(group),
                group.group_number.get(),
                group.display_name,
                group.start_date,
                group.required_documents.get(),
                group.subject_id,
                group.course_id,
                group.updated_at,
                search_key(group.name.as_str(), group.display_name.as_ref().map(ShortName::as_str)),
            ],
        )
        .map(drop)
    }

    /// Writes the help flag of a group and nothing else.
    pub fn update_help(&mut self, group: &Group) -> Result<()> {
        let help = HelpColumns::from(group.help.clone());
        self.run(
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
            ],
        )
        .map(drop)
    }
}

/// Where each group stands among the others.
fn places(groups: &[KnownGroup]) -> HashMap<GroupId, usize> {
    let ids = groups.iter().map(|known| known.whole.group.id.clone());
    ids.enumerate().map(|(place, id)| (id, place)).collect()
}

/// The text that a search compares: the name, and after a line break, which no name has, the display name.
pub(super) fn search_key(name: &str, display_name: Option<&str>) -> String {
    match display_name {
        Some(display_name) => collation::search_key(&format!("{name}\n{display_name}")),
        None => collation::search_key(name),
    }
}

/// Both names in lower case: the release before searches them.
fn names_key(group: &Group) -> String {
    let mut key = name_key(group.name.as_str());
    if let Some(display_name) = &group.display_name {
        key.push('\n');
        key.push_str(&name_key(display_name.as_str()));
    }
    key
}

fn known_group(row: &mut Columns<'_>) -> Result<KnownGroup> {
    let group = group(row)?;
    let class = ClassLabel {
        id: group.class_id.clone(),
        name: row.take()?,
        academic_year: row.take()?,
        status: row.parse(ClassStatus::parse)?,
    };
    let course = if let Some(id) = group.course_id.clone() {
        Some(CourseLabel {
            id,
            name: row.take()?,
            subject_id: row.take()?,
        })
    } else {
        row.skip(2);
        None
    };
    let subject = if let Some(id) = group.subject_id.clone() {
        Some(SubjectLabel {
            id,
            name: row.take()?,
            code: row.take()?,
            color: row.take()?,
        })
    } else {
        row.skip(3);
        None
    };
    let whole = WholeGroup {
        group,
        class,
        course,
        subject,
        members: Vec::new(),
        links: Vec::new(),
        attachments: Vec::new(),
    };
    Ok(KnownGroup {
        whole,
        member_count: row.take()?,
        unread: row.take()?,
        is_seen: row.take()?,
    })
}

fn group(row: &mut Columns<'_>) -> Result<Group> {
    Ok(Group {
        id: row.take()?,
        organization_id: row.take()?,
        class_id: row.take()?,
        work_room_id: row.take()?,
        name: row.take()?,
        group_number: GroupNumber::stored(row.take()?),
        display_name: row.take()?,
        start_date: row.take()?,
        required_documents: RequiredDocuments::stored(row.take()?),
        subject_id: row.take()?,
        course_id: row.take()?,
        help: HelpFlag::from(HelpColumns {
            requested_at: row.take()?,
            message: row.take()?,
            requested_by_id: row.take()?,
            claimed_by_id: row.take()?,
            resolved_at: row.take()?,
            resolved_by_id: row.take()?,
        }),
        created_by_id: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
    })
}

fn member(row: &mut Columns<'_>) -> Result<GroupMember> {
    let group_id = row.take()?;
    let id = row.take()?;
    let user = Person {
        id: row.take()?,
        name: row.take()?,
        image: row.take()?,
    };
    Ok(GroupMember {
        id,
        group_id,
        user,
        email: row.take()?,
        role: row.parse(GroupRole::parse)?,
        joined_at: row.take()?,
    })
}
