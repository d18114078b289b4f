//! The activity log: what happened, told by scope. Rows are written and read, never changed.

use model::file::FileKey;

use super::Work;
use crate::error::Result;
use crate::{args, clock, statements};

statements! {
    /// One record.
    INSERT = "INSERT INTO activity_logs (organization_id, id, user_id, user_name, user_role, category, action,
            entity_type, entity_id, entity_name, class_id, course_id, group_id, assignment_id, details, search_key,
            request_id, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)";
    /// A file whose row is gone.
    INSERT_FILE_REMOVAL = "INSERT INTO file_removals (organization_id, id, file_key, next_attempt_at, created_at)
        VALUES ($1, $2, $3, $4, $4)";
}

/// What a record says besides who and when.
#[derive(Debug, Clone)]
pub struct Entry {
    /// CLASS, COURSE, GROUP …
    pub category: &'static str,
    /// CREATE, UPDATE, COURSE_DELETE …
    pub action: &'static str,
    /// The noun it happened to.
    pub entity_type: &'static str,
    /// Its id.
    pub entity_id: String,
    /// Its name at the time.
    pub entity_name: Option<String>,
    /// The class it belongs to; decides which teachers read it.
    pub class_id: Option<String>,
    /// The course it belongs to.
    pub course_id: Option<String>,
    /// The group it belongs to.
    pub group_id: Option<String>,
    /// The topic it belongs to.
    pub assignment_id: Option<String>,
    /// What else is worth knowing.
    pub details: serde_json::Value,
}

impl Work<'_> {
    /// Writes a record.
    pub fn insert_log(&mut self, entry: &Entry) -> Result<()> {
        let actor = self.actor().clone();
        let mut details = entry.details.clone();
        if let (Some(admin), Some(details)) = (&actor.impersonated_by, details.as_object_mut()) {
            details.insert("impersonatedBy".to_owned(), admin.as_str().into());
        }
        let search_key = model::text::name_key(&format!(
            "{} {}",
            actor.name,
            entry.entity_name.as_deref().unwrap_or("")
        ));
        let now = self.now();
        self.run(
            &INSERT,
            args![
                clock::new_id(),
                actor.user,
                actor.name,
                actor.role,
                entry.category,
                entry.action,
                entry.entity_type,
                entry.entity_id,
                entry.entity_name,
                entry.class_id,
                entry.course_id,
                entry.group_id,
                entry.assignment_id,
                details.to_string(),
                search_key,
                actor.request_id,
                now,
            ],
        )
        .map(drop)
    }

    /// Notes a file to be removed after the commit.
    pub fn insert_file_removal(&mut self, key: &FileKey) -> Result<()> {
        let now = self.now();
        self.run(&INSERT_FILE_REMOVAL, args![clock::new_id(), key.as_str(), now])
            .map(drop)
    }
}
