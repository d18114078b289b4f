//! The activity log. Records are scoped to the organization and to a class, course, group or topic. They are inserted
//! and read, never updated.

use domain::activity::{Action, ActivityEvent, ActivityRecord, Category};
use domain::file::FileKey;
use domain::group::GroupContext;
use domain::id::{AssignmentId, ClassId, CourseId, GroupId, UserId};
use domain::time::Timestamp;

use super::page::{Position, Slice, Window};
use super::sql::{Columns, Sql};
use super::{ReadTx, WriteTx};
use crate::visibility::CAN_MANAGE_CLASS;
use crate::{args, fragments, from_row, named, statements};
use common::clock;
use common::error::Result;

fragments! {
    /// The viewer may read record `l`: admins read all records of the organization, teachers those of the classes they
    /// manage now. The records of a deleted class are therefore visible to admins only, because its management rows are
    /// gone.
    VISIBLE_LOG = "(CAST($4 AS BIGINT) IS NOT NULL AND ($2 = 'ADMIN' OR ($2 = 'TEACHER' AND EXISTS (SELECT 1
            FROM classes k
                WHERE k.organization_id = $1 AND k.id = l.class_id AND {CAN_MANAGE_CLASS}))))";
    /// The records of the organization.
    SELECT_RECORDS = "SELECT l.id, l.organization_id, l.user_id, l.user_name, l.user_role, l.category, l.action,
        l.entity_type,
        l.entity_id, l.entity_name, l.class_id, l.course_id, l.group_id, l.assignment_id, l.details,
        l.request_id, l.created_at
    FROM activity_logs l
    WHERE l.organization_id = $1";
    /// One page, newest first.
    MATCHING_PAGE = "{VISIBLE_LOG} AND (CAST($9 AS TEXT) IS NULL OR l.class_id = $9)
        AND (CAST($10 AS TEXT) IS NULL OR l.group_id = $10)
        AND (CAST($11 AS TEXT) IS NULL OR l.user_id = $11)
        AND (CAST($12 AS TEXT) IS NULL OR l.course_id = $12)
        AND (CAST($13 AS TEXT) IS NULL OR l.assignment_id = $13)
        AND (CAST($14 AS TEXT) IS NULL OR l.category = $14)
        AND (CAST($15 AS TEXT) IS NULL OR l.action = $15)
        AND (CAST($16 AS TEXT) IS NULL OR l.search_key LIKE '%' || $16 || '%' ESCAPE '\\')
    ORDER BY l.created_at DESC, l.id DESC
    LIMIT $8";
}

statements! {
    INSERT = "INSERT INTO activity_logs (organization_id, id, user_id, user_name, user_role, category, action,
            entity_type, entity_id, entity_name, class_id, course_id, group_id, assignment_id, details, search_key,
            request_id, created_at)
        VALUES ($1, :id, :user_id, :user_name, :user_role, :category, :action, :entity_type, :entity_id, :entity_name,
            :class_id, :course_id, :group_id, :assignment_id, :details, :search_key, :request_id, :created_at)";
    /// Schedules the file of a deleted row for removal.
    INSERT_FILE_REMOVAL = "INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
        VALUES ($1, $2, $3, $4, $4)";
    PAGE = "{SELECT_RECORDS} AND (l.created_at, l.id) < ($5, $6)
        AND l.created_at >= $7 AND {MATCHING_PAGE}";
    /// The time is an expression, otherwise SQLite would prefer the index on the time of the whole organization because
    /// of the lower bound.
    PAGE_OF_CLASS = "{SELECT_RECORDS} AND l.class_id = $9 AND (l.created_at, l.id) < ($5, $6)
        AND l.created_at + 0 >= $7 AND {MATCHING_PAGE}";
    PAGE_OF_GROUP = "{SELECT_RECORDS} AND l.group_id = $10 AND (l.created_at, l.id) < ($5, $6)
        AND l.created_at + 0 >= $7 AND {MATCHING_PAGE}";
    PAGE_OF_COURSE = "{SELECT_RECORDS} AND l.course_id = $12 AND (l.created_at, l.id) < ($5, $6)
        AND l.created_at + 0 >= $7 AND {MATCHING_PAGE}";
    PAGE_OF_ASSIGNMENT = "{SELECT_RECORDS} AND l.assignment_id = $13 AND (l.created_at, l.id) < ($5, $6)
        AND l.created_at + 0 >= $7 AND {MATCHING_PAGE}";
    PAGE_OF_USER = "{SELECT_RECORDS} AND l.user_id = $11 AND (l.created_at, l.id) < ($5, $6)
        AND l.created_at + 0 >= $7 AND {MATCHING_PAGE}";
    /// One page of an export, oldest first.
    EXPORT_PAGE = "{SELECT_RECORDS} AND (l.created_at, l.id) > ($2, $3) AND l.created_at < $4
        ORDER BY l.created_at, l.id LIMIT $5";
    OWN_CLASSES = "SELECT k.id FROM classes k
        WHERE k.organization_id = $1 AND CAST($4 AS BIGINT) IS NOT NULL AND {CAN_MANAGE_CLASS}";
}

/// The content of a log record without actor and time.
#[derive(Debug, Clone, PartialEq)]
pub struct LogEntry {
    pub category: Category,
    pub action: Action,
    /// The type of the entity the action applied to.
    pub entity_type: &'static str,
    /// Empty when there is no entity.
    pub entity_id: String,
    /// The name of the entity at the time of the action.
    pub entity_name: Option<String>,
    /// Determines which teachers can read the record.
    pub class_id: Option<ClassId>,
    pub course_id: Option<CourseId>,
    pub group_id: Option<GroupId>,
    pub assignment_id: Option<AssignmentId>,
    /// Further details, a JSON object.
    pub details: serde_json::Value,
}

impl LogEntry {
    /// A record without a class, a course, a group, a topic and details.
    pub fn new(category: Category, action: Action, entity_type: &'static str, id: impl ToString, name: &str) -> Self {
        Self {
            category,
            action,
            entity_type,
            entity_id: id.to_string(),
            entity_name: (!name.is_empty()).then(|| name.to_owned()),
            class_id: None,
            course_id: None,
            group_id: None,
            assignment_id: None,
            details: serde_json::json!({}),
        }
    }

    /// Sets the class.
    #[must_use]
    pub fn class(self, class: &ClassId) -> Self {
        Self {
            class_id: Some(class.clone()),
            ..self
        }
    }

    /// Sets the course.
    #[must_use]
    pub fn course(self, course: Option<&CourseId>) -> Self {
        Self {
            course_id: course.cloned(),
            ..self
        }
    }

    /// Sets the topic.
    #[must_use]
    pub fn assignment(self, assignment: Option<&AssignmentId>) -> Self {
        Self {
            assignment_id: assignment.cloned(),
            ..self
        }
    }

    /// Sets the group, its class and its course.
    #[must_use]
    pub fn group_context(self, group_context: &GroupContext) -> Self {
        let group = &group_context.group;
        Self {
            group_id: Some(group.id.clone()),
            ..self.class(&group_context.class).course(group.course_id.as_ref())
        }
    }

    /// Sets the details, a JSON object.
    #[must_use]
    pub fn details(self, details: serde_json::Value) -> Self {
        Self { details, ..self }
    }
}

/// Restricts a list of records. A `None` field does not restrict.
#[derive(Debug, Clone, Default)]
pub struct ActivityFilter {
    pub class_id: Option<ClassId>,
    pub group_id: Option<GroupId>,
    pub course_id: Option<CourseId>,
    pub assignment_id: Option<AssignmentId>,
    pub category: Option<Category>,
    pub action: Option<Action>,
    pub event: Option<ActivityEvent>,
    pub user_id: Option<UserId>,
    /// Inclusive lower bound.
    pub from: Option<Timestamp>,
    /// Exclusive upper bound.
    pub to: Option<Timestamp>,
    /// Matches the name of the actor or of the entity.
    pub search: Option<String>,
}

impl ActivityFilter {
    /// Returns the filter with the event resolved to category and action, or `None` if they exclude each other.
    fn with_event(&self) -> Option<Self> {
        let mut filter = self.clone();
        let Some(ActivityEvent { category, action }) = filter.event.take() else {
            return Some(filter);
        };
        let is_possible = self.action.is_none_or(|wanted| wanted == action)
            && (self.category.is_none() || category.is_none() || self.category == category);
        filter.action = Some(action);
        filter.category = self.category.or(category);
        is_possible.then_some(filter)
    }
}

impl ReadTx<'_> {
    /// Returns a page of the records the viewer may read, newest first.
    pub fn activity(&mut self, filter: &ActivityFilter, window: &Window<i64>) -> Result<Slice<ActivityRecord, i64>> {
        let Some(filter) = &filter.with_event() else {
            return Ok(window.cut(Vec::new(), position));
        };
        // Uses the index of the narrowest scope first: a class has more records than a group, topic or course in it.
        let rows = if filter.group_id.is_some() {
            self.activity_page(&PAGE_OF_GROUP, filter, window)?
        } else if filter.assignment_id.is_some() {
            self.activity_page(&PAGE_OF_ASSIGNMENT, filter, window)?
        } else if filter.course_id.is_some() {
            self.activity_page(&PAGE_OF_COURSE, filter, window)?
        } else if filter.class_id.is_some() {
            self.activity_page(&PAGE_OF_CLASS, filter, window)?
        } else if filter.user_id.is_some() {
            self.activity_page(&PAGE_OF_USER, filter, window)?
        } else if self.viewer().role_text() == "ADMIN" {
            self.activity_page(&PAGE, filter, window)?
        } else {
            self.activity_of_own_classes(filter, window)?
        };
        Ok(window.cut(rows, position))
    }

    /// Returns the next records of an export, oldest first: those after `after` that were created before `to`.
    pub fn exported_activity(
        &mut self,
        after: &Position<i64>,
        to: Option<Timestamp>,
        limit: i64,
    ) -> Result<Vec<ActivityRecord>> {
        let to = to.map_or(i64::MAX, Timestamp::as_millis);
        self.fetch_all(&EXPORT_PAGE, args![after.key, after.id, to, limit], record)
    }

    /// Reads the newest rows of each class the viewer manages and merges them. A teacher manages few classes, and each
    /// is read from its own index; one statement over all of them would read and sort all rows of a year.
    fn activity_of_own_classes(
        &mut self,
        filter: &ActivityFilter,
        window: &Window<i64>,
    ) -> Result<Vec<ActivityRecord>> {
        let classes: Vec<ClassId> = self.fetch_all_visible(&OWN_CLASSES, args![], |row| row.get("id"))?;
        let mut rows = Vec::new();
        for class in classes {
            let filter = ActivityFilter {
                class_id: Some(class),
                ..filter.clone()
            };
            rows.extend(self.activity_page(&PAGE_OF_CLASS, &filter, window)?);
        }
        rows.sort_unstable_by(|left, right| (right.created_at, &right.id).cmp(&(left.created_at, &left.id)));
        Ok(rows)
    }

    fn activity_page(
        &mut self,
        page: &'static Sql,
        filter: &ActivityFilter,
        window: &Window<i64>,
    ) -> Result<Vec<ActivityRecord>> {
        let (time, id) = window.newest_before();
        // Both upper bounds have the same form, so only the smaller one is passed to the index.
        let to = filter.to.map_or(i64::MAX, Timestamp::as_millis);
        let (time, id) = (time, id).min((to, ""));
        let from = filter.from.map_or(i64::MIN, Timestamp::as_millis);
        let search = filter.search.as_deref().map(super::pattern);
        self.fetch_all_visible(
            page,
            args![
                time,
                id,
                from,
                window.rows(),
                filter.class_id,
                filter.group_id,
                filter.user_id,
                filter.course_id,
                filter.assignment_id,
                filter.category.map(Category::as_str),
                filter.action.map(Action::as_str),
                search,
            ],
            record,
        )
    }
}

impl WriteTx<'_> {
    /// Inserts a log record with the actor of the transaction.
    pub fn insert_log(&mut self, entry: &LogEntry) -> Result<()> {
        let actor = self.actor().clone();
        let mut details = entry.details.clone();
        if let (Some(admin), Some(details)) = (&actor.impersonated_by, details.as_object_mut()) {
            details.insert("impersonatedBy".to_owned(), admin.as_str().into());
        }
        if let (Some(token), Some(details)) = (&actor.api_token, details.as_object_mut()) {
            details.insert(
                "apiToken".to_owned(),
                serde_json::json!({"id": token.id, "name": token.name}),
            );
        }
        let name = entry.entity_name.as_deref().unwrap_or("");
        let search_key = domain::collation::search_key(&format!("{} {name}", actor.name));
        let now = self.now();
        self.execute_named(
            &INSERT,
            named![entry =>
                category, action, entity_type, entity_id, entity_name, class_id, course_id, group_id, assignment_id,
                id: clock::new_id(),
                user_id: actor.user,
                user_name: actor.name,
                user_role: actor.role,
                details: details.to_string(),
                search_key: search_key,
                request_id: actor.request_id,
                created_at: now,
            ],
        )
    }

    /// Schedules a file for removal after the commit.
    pub fn insert_file_removal(&mut self, key: &FileKey) -> Result<()> {
        self.unstored();
        let now = self.now();
        self.execute(&INSERT_FILE_REMOVAL, args![clock::new_id(), key.as_str(), now])
    }
}

/// Returns the pagination position of a record.
pub fn position(record: &ActivityRecord) -> Position<i64> {
    Position {
        key: record.created_at.as_millis(),
        id: record.id.to_string(),
    }
}

fn record(row: &Columns<'_>) -> Result<ActivityRecord> {
    from_row!(row => ActivityRecord {
        id, organization_id, user_id, user_name, user_role, category, action, entity_type, entity_id, entity_name,
        class_id, course_id, group_id, assignment_id, details, request_id, created_at,
    })
}
