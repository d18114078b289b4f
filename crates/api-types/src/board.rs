//! The lesson board for teachers: the groups of a topic as in other responses, together with presence and typing
//! activity, which are kept in memory only.

use api_macros::view;
use domain::comment::UnreadComments;
use domain::details::DocumentDetails;
use domain::document::DocumentStatus;
use domain::id::{DocumentId, GroupId, UserId};
use domain::text::{DocumentTitle, HelpMessage};
use domain::time::Timestamp;

use super::course_detail::AssignmentSummaryView;
use super::group::{GroupSummaryView, MemberPersonView};
use super::group_assignment::GroupAssignmentView;

/// The lesson board of a topic with all its groups.
#[view]
pub struct BoardView {
    /// Server time, as a reference for countdowns.
    pub server_now: Timestamp,
    pub assignment: AssignmentSummaryView,
    /// Groups by number, including hidden groups.
    pub groups: Vec<BoardGroupView>,
    /// Groups that need help, longest waiting first; requests that are no longer needed are last.
    pub help_queue: Vec<GroupId>,
}

/// A group on the lesson board.
#[view]
pub struct BoardGroupView {
    pub group: GroupSummaryView,
    pub members: Vec<BoardMemberView>,
    /// Documents linked to this topic or to none.
    pub documents: Vec<BoardDocumentView>,
    /// Link of the group to the topic.
    pub group_assignment: GroupAssignmentView,
    /// Whether the group requests help.
    pub needs_help: bool,
    /// When the group requested help.
    pub help_requested_at: Option<Timestamp>,
    /// Message of the help request.
    pub help_message: Option<HelpMessage>,
    /// When a student marked the request as no longer needed.
    pub help_withdrawn_at: Option<Timestamp>,
    /// Number of room messages the caller has not read.
    pub unread_messages: i64,
    /// Members who are typing. Kept in memory only.
    pub writing: Vec<UserId>,
    /// Typing activity of the group in each of the last 20 minutes, oldest first. Kept in memory only.
    #[schema(min_items = 20, max_items = 20)]
    pub activity: Vec<u32>,
}

/// A group member on the lesson board.
#[view]
pub struct BoardMemberView {
    pub user: MemberPersonView,
    /// Whether the member has an open socket connection.
    pub online: bool,
}

/// A document on the lesson board.
#[view]
pub struct BoardDocumentView {
    id: DocumentId,
    title: DocumentTitle,
    status: DocumentStatus,
    last_activity: Timestamp,
    last_edited_by: Option<UserId>,
    /// Number of comments by others that the caller has not read.
    unread_comments: i64,
}

impl BoardDocumentView {
    pub fn new(details: &DocumentDetails, unread: UnreadComments) -> Self {
        let document = &details.document;
        Self {
            id: document.id.clone(),
            title: document.title.clone(),
            status: document.status.document_status(),
            last_activity: document.last_activity,
            last_edited_by: document.last_edited_by.clone(),
            unread_comments: unread.comments,
        }
    }
}
