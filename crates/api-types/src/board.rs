//! The lesson board as a teacher sees it (contract 6.9): each group as its own routes show it, and what lives in memory
//! beside it.

use model::document::DocumentStatus;
use model::id::{DocumentId, GroupId, UserId};
use model::text::{DocumentTitle, HelpMessage};
use model::time::Timestamp;
use model::whole::WholeDocument;
use serde::Serialize;
use utoipa::ToSchema;

use super::course_detail::AssignmentSummaryView;
use super::group::{GroupSummaryView, MemberPersonView};
use super::group_assignment::GroupAssignmentView;

/// All groups of a topic at once.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Board)]
pub struct BoardView {
    /// The clock of the service, for countdowns
    pub server_now: Timestamp,
    /// The topic
    pub assignment: AssignmentSummaryView,
    /// By group number, hidden groups included
    pub groups: Vec<BoardGroupView>,
    /// The groups that ask for help, longest wait first
    pub help_queue: Vec<GroupId>,
}

/// One group on the board.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BoardGroup)]
pub struct BoardGroupView {
    /// The group
    pub group: GroupSummaryView,
    /// Who is in it
    pub members: Vec<BoardMemberView>,
    /// Its documents for this topic, or for none
    pub documents: Vec<BoardDocumentView>,
    /// Its link to the topic
    pub group_assignment: GroupAssignmentView,
    /// Whether it asks for help
    pub needs_help: bool,
    /// Since when
    #[schema(required)]
    pub help_requested_at: Option<Timestamp>,
    /// What about
    #[schema(required)]
    pub help_message: Option<HelpMessage>,
    /// Messages of its room that the caller has not read
    pub unread_messages: i64,
    /// Members who are writing now; in memory only, never stored
    pub writing: Vec<UserId>,
    /// How often a member was writing in each of the last 20 minutes, the present one last; in memory only, never stored
    #[schema(min_items = 20, max_items = 20)]
    pub activity: Vec<u32>,
}

/// A member on the board.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = BoardMember)]
pub struct BoardMemberView {
    /// Who
    pub user: MemberPersonView,
    /// Whether a page of the member is open
    pub online: bool,
}

/// A document on the board.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BoardDocument)]
pub struct BoardDocumentView {
    id: DocumentId,
    title: DocumentTitle,
    status: DocumentStatus,
    last_activity: Timestamp,
    #[schema(required)]
    last_edited_by: Option<UserId>,
}

impl From<&WholeDocument> for BoardDocumentView {
    fn from(whole: &WholeDocument) -> Self {
        let document = &whole.document;
        Self {
            id: document.id.clone(),
            title: document.title.clone(),
            status: document.status.word(),
            last_activity: document.last_activity,
            last_edited_by: document.last_edited_by.clone(),
        }
    }
}
