//! The activity log: who changed what, in closed words. A record copies every name it needs, for it outlives what it names.

use crate::id::{AssignmentId, ClassId, CourseId, GroupId, LogId, OrganizationId, UserId};
use crate::time::Timestamp;
use crate::word::words;

words! {
    /// What a record is about.
    Category {
        /// Classes and enrolments.
        Class = "CLASS",
        /// Homerooms.
        Homeroom = "HOMEROOM",
        /// Subjects.
        Subject = "SUBJECT",
        /// Courses.
        Course = "COURSE",
        /// Groups, members and calls for help.
        Group = "GROUP",
        /// Topics.
        Assignment = "ASSIGNMENT",
        /// Hand-ins and grades.
        Submission = "SUBMISSION",
        /// Documents.
        Document = "DOCUMENT",
        /// Feedback.
        Feedback = "FEEDBACK",
        /// Accounts and memberships.
        User = "USER",
        /// The organization itself.
        Tenant = "TENANT",
        /// Signing in.
        Auth = "AUTH",
    }
}

words! {
    /// What was done.
    Action {
        /// Made.
        Create = "CREATE",
        /// Changed.
        Update = "UPDATE",
        /// Removed.
        Delete = "DELETE",
        /// A course removed with everything in it; this one word is fixed.
        CourseDelete = "COURSE_DELETE",
        /// Changed for all groups of a topic at once.
        BulkUpdate = "BULK_UPDATE",
        /// Finished.
        Finish = "FINISH",
        /// Reopened.
        Reopen = "REOPEN",
        /// A group attached to a topic.
        Attach = "ATTACH",
        /// A group detached from a topic.
        Detach = "DETACH",
        /// Someone came in.
        MemberAdded = "MEMBER_ADDED",
        /// Someone went.
        MemberRemoved = "MEMBER_REMOVED",
        /// Someone changed the group.
        MemberMoved = "MEMBER_MOVED",
        /// Handed in.
        Submit = "SUBMIT",
        /// Taken back.
        Unsubmit = "UNSUBMIT",
        /// Given back for revision.
        Return = "RETURN",
        /// Graded, not yet told.
        Grade = "GRADE",
        /// A grade told.
        GradePublish = "GRADE_PUBLISH",
        /// A group asked for help.
        HelpRequested = "HELP_REQUESTED",
        /// A call for help was handled.
        HelpResolved = "HELP_RESOLVED",
        /// People imported.
        Import = "IMPORT",
        /// Something exported.
        Export = "EXPORT",
        /// A sign-in that failed.
        LoginFailed = "LOGIN_FAILED",
        /// A member's role changed.
        RoleChanged = "ROLE_CHANGED",
    }
}

/// Category and action as one word, for clients that compare one text.
pub fn event(category: Category, action: Action) -> String {
    let (category, action) = (category.as_str(), action.as_str());
    let has_category = action.strip_prefix(category).is_some_and(|rest| rest.starts_with('_'));
    if has_category || action.starts_with("HELP") {
        action.to_owned()
    } else {
        format!("{category}_{action}")
    }
}

/// Which records have an event of a name, as [`event`] writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The category; any if the name does not say.
    pub category: Option<Category>,
    /// The action.
    pub action: Action,
}

impl Event {
    /// The event of this name, if records can have it.
    pub fn parse(name: &str) -> Option<Self> {
        let categories = |action: Action| {
            let categories = Category::ALL.iter().copied();
            categories.filter(move |category| event(*category, action) == name)
        };
        // COURSE_DELETE is an action of its own; no record has the action DELETE and the category COURSE.
        let own = Action::parse(name).into_iter();
        for action in own.chain(Action::ALL.iter().copied()) {
            let mut fitting = categories(action);
            if let Some(first) = fitting.next() {
                // HELP_REQUESTED names no category.
                let category = fitting.next().is_none().then_some(first);
                return Some(Self { category, action });
            }
        }
        None
    }
}

impl<'de> serde::Deserialize<'de> for Event {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let unknown = || serde::de::Error::custom("must be an event such as COURSE_CREATE or HELP_REQUESTED");
        Self::parse(&name).ok_or_else(unknown)
    }
}

/// A record of the activity log.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its id.
    pub id: LogId,
    /// The tenant.
    pub organization_id: OrganizationId,
    /// Who did it; none for the service.
    pub user_id: Option<UserId>,
    /// Their name at that time.
    pub user_name: String,
    /// The role they acted in.
    pub user_role: String,
    /// What it is about.
    pub category: Category,
    /// What was done, as a word; records of other releases may use words unknown here.
    pub action: String,
    /// The noun.
    pub entity_type: String,
    /// The id of the thing.
    pub entity_id: String,
    /// The name of the thing at that time.
    pub entity_name: Option<String>,
    /// Its class; teachers see the records of their classes.
    pub class_id: Option<ClassId>,
    /// Its course.
    pub course_id: Option<CourseId>,
    /// Its group.
    pub group_id: Option<GroupId>,
    /// Its topic.
    pub assignment_id: Option<AssignmentId>,
    /// More: a JSON object, as the text it was stored as. Whoever shows it need not read it.
    pub details: String,
    /// The request that did it.
    pub request_id: Option<String>,
    /// When.
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_word_of_a_record_never_repeats_its_category() {
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
        let parsed = |name: &str| Event::parse(name).map(|event| (event.category, event.action));
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
