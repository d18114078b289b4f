//! Activity log: categories, actions and records. A record stores a copy of every name it mentions, because it outlives
//! the objects it refers to.

use crate::id::{AssignmentId, ClassId, CourseId, GroupId, LogId, OrganizationId, UserId};
use crate::string_enum::string_enum;
use crate::time::Timestamp;

string_enum! {
    /// Category of an activity log record.
    Category {
        /// Classes and enrolments.
        Class = "CLASS",
        Homeroom = "HOMEROOM",
        Subject = "SUBJECT",
        Course = "COURSE",
        /// Groups, their members and help requests.
        Group = "GROUP",
        /// Topics.
        Assignment = "ASSIGNMENT",
        /// Submissions and grades.
        Submission = "SUBMISSION",
        Document = "DOCUMENT",
        Feedback = "FEEDBACK",
        /// Accounts and memberships.
        User = "USER",
        /// The organization.
        Tenant = "TENANT",
        /// Sign-in.
        Auth = "AUTH",
    }
}

string_enum! {
    /// Action of an activity log record.
    Action {
        Create = "CREATE",
        Update = "UPDATE",
        Delete = "DELETE",
        /// A course was deleted with everything in it. The specification fixes this value.
        CourseDelete = "COURSE_DELETE",
        /// A deleted object was restored.
        Restore = "RESTORE",
        /// A deleted object was deleted for good.
        Discard = "DISCARD",
        /// A field was changed for all groups of a topic at once.
        BulkUpdate = "BULK_UPDATE",
        Finish = "FINISH",
        Reopen = "REOPEN",
        /// A group was attached to a topic.
        Attach = "ATTACH",
        /// A group was detached from a topic.
        Detach = "DETACH",
        MemberAdded = "MEMBER_ADDED",
        MemberRemoved = "MEMBER_REMOVED",
        /// A student moved from one group to another.
        MemberMoved = "MEMBER_MOVED",
        /// The groups that had not submitted were reminded.
        Remind = "REMIND",
        /// A document was submitted.
        Submit = "SUBMIT",
        /// A submission was withdrawn.
        Unsubmit = "UNSUBMIT",
        /// A submission was returned for revision.
        Return = "RETURN",
        /// A grade was saved but not published.
        Grade = "GRADE",
        /// A grade was published.
        GradePublish = "GRADE_PUBLISH",
        /// A group requested help.
        HelpRequested = "HELP_REQUESTED",
        /// A group no longer needs the help that it requested.
        HelpWithdrawn = "HELP_WITHDRAWN",
        /// A help request was resolved.
        HelpResolved = "HELP_RESOLVED",
        /// The changes of a document were played back.
        Playback = "PLAYBACK",
        /// Users were imported.
        Import = "IMPORT",
        /// Data was exported.
        Export = "EXPORT",
        /// A sign-in failed.
        LoginFailed = "LOGIN_FAILED",
        /// A user signed in with a passkey or through a sign-on provider.
        LoggedIn = "LOGGED_IN",
        /// A passkey was added.
        PasskeyAdded = "PASSKEY_ADDED",
        /// A passkey was removed by its user.
        PasskeyRemoved = "PASSKEY_REMOVED",
        /// A passkey was rejected at a sign-in.
        PasskeyRejected = "PASSKEY_REJECTED",
        /// A second factor was set up.
        FactorEnabled = "FACTOR_ENABLED",
        /// A second factor was removed by its user.
        FactorDisabled = "FACTOR_DISABLED",
        /// A second factor was removed by an administrator.
        FactorReset = "FACTOR_RESET",
        /// A wrong code of a second factor was entered.
        FactorFailed = "FACTOR_FAILED",
        /// A recovery code was used instead of the second factor.
        RecoveryCodeUsed = "RECOVERY_CODE_USED",
        /// The recovery codes were replaced.
        RecoveryCodesRenewed = "RECOVERY_CODES_RENEWED",
        /// The role of a member changed.
        RoleChanged = "ROLE_CHANGED",
    }
}

/// Returns category and action as one event name, for clients that filter by a single string.
pub fn event(category: Category, action: Action) -> String {
    let (category, action) = (category.as_str(), action.as_str());
    let has_category = action.strip_prefix(category).is_some_and(|rest| rest.starts_with('_'));
    if has_category || action.starts_with("HELP") {
        action.to_owned()
    } else {
        format!("{category}_{action}")
    }
}

/// Filter for the records of one event name, as returned by [`event`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActivityEvent {
    /// `None` if the event name does not determine the category; records of any category match.
    pub category: Option<Category>,
    pub action: Action,
}

impl ActivityEvent {
    /// Parses an event name; `None` if no record can have it.
    pub fn parse(name: &str) -> Option<Self> {
        let categories = |action: Action| {
            let categories = Category::ALL.iter().copied();
            categories.filter(move |category| event(*category, action) == name)
        };
        // `COURSE_DELETE` is an action of its own; no record has the action `DELETE` and the category `COURSE`.
        let own = Action::parse(name).into_iter();
        for action in own.chain(Action::ALL.iter().copied()) {
            let mut fitting = categories(action);
            if let Some(first) = fitting.next() {
                // `HELP_REQUESTED` does not determine a category.
                let category = fitting.next().is_none().then_some(first);
                return Some(Self { category, action });
            }
        }
        None
    }
}

impl<'de> serde::Deserialize<'de> for ActivityEvent {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let unknown = || serde::de::Error::custom("must be an event such as COURSE_CREATE or HELP_REQUESTED");
        Self::parse(&name).ok_or_else(unknown)
    }
}

/// A record of the activity log.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivityRecord {
    pub id: LogId,
    pub organization_id: OrganizationId,
    /// The user who performed the action; `None` if the service did.
    pub user_id: Option<UserId>,
    /// The user's name at that time.
    pub user_name: String,
    /// The role in which the user acted.
    pub user_role: String,
    pub category: Category,
    /// Name of the [`Action`]. A string, because records of other releases may contain actions unknown to this one.
    pub action: String,
    /// Type of the affected object.
    pub entity_type: String,
    /// Id of the affected object.
    pub entity_id: String,
    /// Name of the affected object at that time.
    pub entity_name: Option<String>,
    /// The class of the object. Teachers see the records of their classes.
    pub class_id: Option<ClassId>,
    pub course_id: Option<CourseId>,
    pub group_id: Option<GroupId>,
    pub assignment_id: Option<AssignmentId>,
    /// Further details: a serialized JSON object, kept as stored so that it can be returned without parsing it.
    pub details: String,
    /// Id of the request that performed the action.
    pub request_id: Option<String>,
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_name_never_repeats_its_category() {
        assert_eq!(event(Category::Course, Action::Create), "COURSE_CREATE");
        assert_eq!(event(Category::Course, Action::CourseDelete), "COURSE_DELETE");
        assert_eq!(
            event(Category::Assignment, Action::BulkUpdate),
            "ASSIGNMENT_BULK_UPDATE"
        );
        assert_eq!(event(Category::Group, Action::HelpRequested), "HELP_REQUESTED");
        assert_eq!(
            event(Category::Submission, Action::GradePublish),
            "SUBMISSION_GRADE_PUBLISH"
        );
    }

    #[test]
    fn event_name_is_parsed_into_category_and_action() {
        let parsed = |name: &str| ActivityEvent::parse(name).map(|event| (event.category, event.action));
        assert_eq!(parsed("COURSE_CREATE"), Some((Some(Category::Course), Action::Create)));
        assert_eq!(
            parsed("COURSE_DELETE"),
            Some((Some(Category::Course), Action::CourseDelete))
        );
        assert_eq!(parsed("HELP_REQUESTED"), Some((None, Action::HelpRequested)));
        for name in ["CREATE", "COURSE", "", "course_create", "COURSE_COURSE_DELETE"] {
            assert_eq!(parsed(name), None, "{name}");
        }
        for (category, action) in [(Category::User, Action::Import), (Category::Group, Action::MemberMoved)] {
            let name = event(category, action);
            assert_eq!(parsed(&name), Some((Some(category), action)));
        }
    }
}
