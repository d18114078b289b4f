//! Groups in responses, and their outline for teachers of other classes (docs/api-contract.md#permissions). For
//! students, staff fields and the email addresses of members are absent.

use api_macros::view;
use domain::account_email::AccountEmail;
use domain::course::CourseLabel;
use domain::details::GroupDetails;
use domain::from_fields;
use domain::group::{Group, GroupMember, GroupRole};
use domain::id::{ClassId, CourseId, GroupId, GroupMemberId, SubjectId, UserId, WorkRoomId};
use domain::number::{GroupNumber, RequiredDocuments};
use domain::subject::SubjectLabel;
use domain::text::{HelpMessage, ShortName};
use domain::time::Timestamp;

use super::attachment::GroupAttachmentView;
use super::audience::{Audience, FullTag, OutlineTag, StaffOnly};
use super::group_assignment::{GroupAssignmentOfGroupView, GroupAssignmentView};

/// A group with its members, topics and attachments.
#[view]
pub struct GroupView {
    #[schema(inline)]
    view: FullTag,
    #[serde(flatten)]
    content: GroupContentView,
    group_assignments: Vec<GroupAssignmentView>,
}

/// A group in a list, with its members, attachments and progress.
#[view]
pub struct GroupListItemView {
    #[schema(inline)]
    view: FullTag,
    #[serde(flatten)]
    content: GroupContentView,
    group_assignments: Vec<GroupAssignmentOfGroupView>,
}

/// A group with its members and attachments, without its topics.
#[view]
pub struct GroupContentView {
    #[serde(flatten)]
    summary: GroupSummaryView,
    class: GroupClassView,
    course: Option<CourseLabel>,
    subject: Option<GroupSubjectView>,
    members: Vec<GroupMemberView>,
    attachments: Vec<GroupAttachmentView>,
    /// Number of room messages the caller has not read.
    unread_messages: i64,
}

/// The fields of a group without related objects.
#[view]
pub struct GroupSummaryView {
    id: GroupId,
    name: ShortName,
    group_number: GroupNumber,
    display_name: Option<ShortName>,
    start_date: Option<Timestamp>,
    /// The room or place where the group meets.
    meeting_place: Option<ShortName>,
    required_documents: RequiredDocuments,
    class_id: ClassId,
    subject_id: Option<SubjectId>,
    course_id: Option<CourseId>,
    needs_help: bool,
    help_requested_at: Option<Timestamp>,
    help_message: Option<HelpMessage>,
    help_requested_by_id: Option<UserId>,
    /// When a student marked the help request as no longer needed. Only staff end it.
    help_withdrawn_at: Option<Timestamp>,
    /// Staff only: the teacher who claimed the help request.
    help_claimed_by_id: StaffOnly<Option<UserId>>,
    /// Staff only: when the last help request was resolved.
    help_resolved_at: StaffOnly<Option<Timestamp>>,
    /// Staff only: the user who resolved the last help request.
    help_resolved_by_id: StaffOnly<Option<UserId>>,
    /// Absent in events for students.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_by_id: Option<UserId>,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// Staff only: whether the start date still hides the group from its students.
    is_hidden: StaffOnly<bool>,
    member_count: i64,
    work_room_id: WorkRoomId,
}

/// The class of a group.
#[view]
pub struct GroupClassView {
    id: ClassId,
    name: String,
}

/// The subject of a group.
#[view]
pub struct GroupSubjectView {
    id: SubjectId,
    name: String,
}

/// Membership of a student in a group.
#[view]
pub struct GroupMemberView {
    id: GroupMemberId,
    group_id: GroupId,
    user_id: UserId,
    /// Always MEMBER; there are no other roles.
    #[schema(deprecated)]
    role: GroupRole,
    joined_at: Timestamp,
    user: MemberPersonView,
}

/// The user of a membership.
#[view]
#[schema(as = GroupMemberUser)]
pub struct MemberPersonView {
    id: UserId,
    name: String,
    image: Option<String>,
    /// Staff only; null for accounts without an email address.
    #[schema(value_type = Option<String>)]
    email: StaffOnly<AccountEmail>,
}

/// The part of a group that teachers of other classes may see.
#[view]
pub struct GroupOutlineView {
    #[schema(inline)]
    view: OutlineTag,
    id: GroupId,
    name: ShortName,
    group_number: GroupNumber,
    display_name: Option<ShortName>,
    class_id: ClassId,
    course_id: Option<CourseId>,
    subject_id: Option<SubjectId>,
    member_count: i64,
}

impl GroupView {
    /// Returns the group for a caller with full access to it. `unread` is the number of unread messages of the caller.
    pub fn new(details: &GroupDetails, audience: &Audience, unread: i64, now: Timestamp) -> Self {
        let link = |link| GroupAssignmentView::new(link, audience);
        Self {
            view: FullTag::Full,
            content: GroupContentView::new(details, audience, unread, now),
            group_assignments: details.links.iter().map(link).collect(),
        }
    }

    pub fn id(&self) -> &GroupId {
        &self.content.summary.id
    }
}

impl GroupListItemView {
    /// Returns the group in a list for a caller with full access to it. `unread` is the number of unread messages of
    /// the caller.
    pub fn new(details: &GroupDetails, audience: &Audience, unread: i64, now: Timestamp) -> Self {
        Self {
            view: FullTag::Full,
            content: GroupContentView::new(details, audience, unread, now),
            group_assignments: details.links.iter().map(GroupAssignmentOfGroupView::from).collect(),
        }
    }
}

impl GroupContentView {
    fn new(details: &GroupDetails, audience: &Audience, unread: i64, now: Timestamp) -> Self {
        let member = |member| GroupMemberView::new(member, audience);
        Self {
            summary: summary(details, audience, now),
            class: GroupClassView::from(details),
            course: details.course.clone(),
            subject: details.subject.as_ref().map(GroupSubjectView::from),
            members: details.members.iter().map(member).collect(),
            attachments: details.attachments.iter().map(GroupAttachmentView::from).collect(),
            unread_messages: unread,
        }
    }
}

/// Returns the fields of a group in a response. Unlike in events, `createdById` is present for every audience.
fn summary(details: &GroupDetails, audience: &Audience, now: Timestamp) -> GroupSummaryView {
    let members = i64::try_from(details.members.len()).unwrap_or(i64::MAX);
    GroupSummaryView {
        created_by_id: Some(details.group.created_by_id.clone()),
        ..GroupSummaryView::new(&details.group, members, audience, now)
    }
}

impl From<&GroupDetails> for GroupClassView {
    fn from(details: &GroupDetails) -> Self {
        Self {
            id: details.class.id.clone(),
            name: details.class.name.clone(),
        }
    }
}

impl GroupSummaryView {
    pub fn new(group: &Group, member_count: i64, audience: &Audience, now: Timestamp) -> Self {
        let (help, resolved) = (&group.help, group.help.resolved());
        from_fields!(&group => Self {
            id, name, group_number, display_name, start_date, meeting_place, required_documents, class_id, subject_id,
            course_id, created_at, updated_at, work_room_id,
            needs_help: help.needs_help(),
            help_requested_at: help.requested_at(),
            help_message: help.message().cloned(),
            help_requested_by_id: help.requested_by().cloned(),
            help_withdrawn_at: help.withdrawn_at(),
            help_claimed_by_id: audience.staff_only(help.claimed_by().cloned()),
            help_resolved_at: audience.staff_only(resolved.map(|resolved| resolved.at)),
            help_resolved_by_id: audience.staff_only(resolved.and_then(|resolved| resolved.by.clone())),
            created_by_id: audience.is_staff().then(|| group.created_by_id.clone()),
            is_hidden: audience.staff_only(group.is_hidden(now)),
            member_count: member_count,
        })
    }
}

impl GroupMemberView {
    /// Returns the member as visible to the audience.
    pub fn new(member: &GroupMember, audience: &Audience) -> Self {
        from_fields!(&member => Self {
            id, group_id, role, joined_at,
            user_id: member.user.id.clone(),
            user: from_fields!(&member.user => MemberPersonView {
                id, name, image,
                email: audience.staff_only(member.email.clone()),
            }),
        })
    }
}

impl GroupMemberView {
    pub fn into_user(self) -> MemberPersonView {
        self.user
    }

    pub fn user_id(&self) -> &UserId {
        &self.user_id
    }
}

impl GroupOutlineView {
    pub fn new(group: &Group, member_count: i64) -> Self {
        from_fields!(&group => Self {
            id, name, group_number, display_name, class_id, course_id, subject_id,
            view: OutlineTag::Outline,
            member_count: member_count,
        })
    }
}

impl From<&SubjectLabel> for GroupSubjectView {
    fn from(subject: &SubjectLabel) -> Self {
        Self {
            id: subject.id.clone(),
            name: subject.name.clone(),
        }
    }
}

/// A group with the details visible to the caller, as indicated by `view`.
#[view]
#[serde(untagged)]
#[schema(as = VisibleGroup, discriminator(property_name = "view", mapping(
    ("FULL" = "#/components/schemas/Group"), ("OUTLINE" = "#/components/schemas/GroupOutline"))))]
pub enum KnownGroupView {
    /// The whole group, for its members, the staff of its class and admins.
    Full(Box<GroupView>),
    /// An outline, for teachers of other classes.
    Outline(GroupOutlineView),
}

/// A group in a list with the details visible to the caller, as indicated by `view`.
#[view]
#[serde(untagged)]
#[schema(discriminator(property_name = "view", mapping(
    ("FULL" = "#/components/schemas/GroupListItem"), ("OUTLINE" = "#/components/schemas/GroupOutline"))))]
pub enum ListedGroupView {
    /// For its members, the staff of its class and admins.
    Full(Box<GroupListItemView>),
    /// An outline, for teachers of other classes.
    Outline(GroupOutlineView),
}
