//! Comments on documents: threads and their comments. Access to the document is checked before, with
//! [`ReadTx::document`]; these functions do not check it again.

use std::collections::HashMap;

use domain::comment::{CommentAnchor, CommentCounts, CommentThread, DocumentComment, Resolution, UnreadComments};
use domain::id::{AssignmentId, CommentId, CommentThreadId, DocumentId, GroupId, UserId, WorkRoomId};
use domain::time::Timestamp;
use domain::user::Person;

use super::sql::{Columns, Sql};
use super::{ReadTx, WriteTx};
use crate::labels::{PERSON_COLUMNS, optional_person, person};
use crate::{args, fragments, from_row, statements};
use common::error::{Error, Result};

/// A member of a group or a teacher of its class.
#[derive(Debug, Clone)]
pub struct PersonOfGroup {
    pub person: Person,
    /// Whether the user can view the documents of the group now.
    pub can_view: bool,
}

fragments! {
    SELECT_THREADS = "SELECT t.id, t.document_id, t.generation, t.version, t.from_position, t.to_position, t.quote,
            t.created_at, t.resolved_at, {PERSON_COLUMNS}
        FROM comment_threads t LEFT JOIN users u ON u.id = t.resolved_by_id
        WHERE t.organization_id = $1 AND t.document_id = $2";
    SELECT_COMMENTS = "SELECT c.id, c.thread_id, c.text, c.created_at, c.edited_at, {PERSON_COLUMNS}
        FROM comment_threads t
        JOIN document_comments c ON c.organization_id = t.organization_id AND c.thread_id = t.id
        JOIN users u ON u.id = c.author_id
        WHERE t.organization_id = $1 AND t.document_id = $2";
    /// Comments `c` in threads `t` of documents `d` that user `$3` has not read. `$4` is how texts mention the user.
    SELECT_UNREAD = "SELECT d.id, COUNT(*) AS comments,
            SUM(CASE WHEN REPLACE(c.text, CAST($4 AS TEXT), '') <> c.text THEN 1 ELSE 0 END) AS mentions
        FROM";
    UNREAD = "JOIN comment_threads t ON t.organization_id = d.organization_id AND t.document_id = d.id
        JOIN document_comments c ON c.organization_id = t.organization_id AND c.thread_id = t.id
        LEFT JOIN comment_reads r ON r.organization_id = d.organization_id AND r.document_id = d.id AND r.user_id = $3
        WHERE d.organization_id = $1 AND c.author_id <> $3 AND c.text <> ''
            AND COALESCE(c.edited_at, c.created_at) > COALESCE(r.read_until, 0)";
}

statements! {
    THREADS = "{SELECT_THREADS} ORDER BY t.created_at, t.id";
    THREAD = "{SELECT_THREADS} AND t.id = $3";
    COMMENTS = "{SELECT_COMMENTS} ORDER BY c.created_at, c.id";
    COMMENTS_OF_THREAD = "{SELECT_COMMENTS} AND t.id = $3 ORDER BY c.created_at, c.id";
    COUNTS = "SELECT
        (SELECT COUNT(*) FROM comment_threads WHERE organization_id = $1 AND document_id = $2) AS threads,
        (SELECT COUNT(*) FROM comment_threads t
            JOIN document_comments c ON c.organization_id = t.organization_id AND c.thread_id = t.id
            WHERE t.organization_id = $1 AND t.document_id = $2) AS comments,
        (SELECT MAX(COALESCE(c.edited_at, c.created_at)) FROM comment_threads t
            JOIN document_comments c ON c.organization_id = t.organization_id AND c.thread_id = t.id
            WHERE t.organization_id = $1 AND t.document_id = $2) AS latest";
    UNREAD_OF_DOCUMENT = "{SELECT_UNREAD} documents d {UNREAD} AND d.id = $2 GROUP BY d.id";
    UNREAD_OF_ROOM = "{SELECT_UNREAD} documents d {UNREAD} AND d.work_room_id = $2 GROUP BY d.id";
    /// Of the documents of all groups that work on a topic.
    UNREAD_OF_TOPIC = "{SELECT_UNREAD} group_assignments ga
        JOIN work_rooms w ON w.organization_id = ga.organization_id AND w.group_id = ga.group_id
        JOIN documents d ON d.organization_id = w.organization_id AND d.work_room_id = w.id
        {UNREAD} AND ga.organization_id = $1 AND ga.assignment_id = $2 GROUP BY d.id";
    READ_UNTIL = "SELECT read_until FROM comment_reads
        WHERE organization_id = $1 AND document_id = $2 AND user_id = $3";
    SET_READ_UNTIL = "INSERT INTO comment_reads (organization_id, document_id, user_id, read_until)
        VALUES ($1, $2, $3, $4)
        ON CONFLICT (document_id, user_id) DO UPDATE SET read_until = excluded.read_until";
    DELETE_READS = "DELETE FROM comment_reads WHERE organization_id = $1 AND document_id = $2";
    /// The members of a group and the teachers of its class, and whether each can view the documents of the group
    /// (`CAN_VIEW_GROUP`).
    PEOPLE = "SELECT {PERSON_COLUMNS}, COALESCE(p.is_visible AND p.is_staff = (m.role <> 'student') AND m.is_active
            AND u.is_active AND NOT u.banned, FALSE) AS can_view
        FROM (SELECT k.teacher_id AS id, TRUE AS is_staff, TRUE AS is_visible FROM groups g
                JOIN classes k ON k.organization_id = g.organization_id AND k.id = g.class_id
                WHERE g.organization_id = $1 AND g.id = $2
            UNION SELECT ct.user_id, TRUE, TRUE FROM groups g
                JOIN class_teachers ct ON ct.organization_id = g.organization_id AND ct.class_id = g.class_id
                WHERE g.organization_id = $1 AND g.id = $2
            UNION SELECT gm.user_id, FALSE, k.status <> 'DRAFT' AND (g.start_date IS NULL OR g.start_date <= $3)
                FROM groups g
                JOIN classes k ON k.organization_id = g.organization_id AND k.id = g.class_id
                JOIN group_members gm ON gm.organization_id = g.organization_id AND gm.group_id = g.id
                WHERE g.organization_id = $1 AND g.id = $2) p
        JOIN users u ON u.id = p.id LEFT JOIN members m ON m.organization_id = $1 AND m.user_id = p.id
        ORDER BY u.sort_key, u.id LIMIT 200";
    /// The threads about passages of a generation.
    ANCHORS = "SELECT id, generation, version, from_position, to_position FROM comment_threads
        WHERE organization_id = $1 AND document_id = $2 AND generation = $3 ORDER BY id";
    INSERT_THREAD = "INSERT INTO comment_threads (organization_id, id, document_id, generation, version, from_position,
            to_position, quote, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    INSERT_COMMENT = "INSERT INTO document_comments (organization_id, id, thread_id, author_id, text, created_at)
        VALUES ($1, $2, $3, $4, $5, $6)";
    UPDATE_COMMENT = "UPDATE document_comments SET text = $4, edited_at = $5
        WHERE organization_id = $1 AND thread_id = $2 AND id = $3";
    SET_RESOLUTION = "UPDATE comment_threads SET resolved_at = $3, resolved_by_id = $4
        WHERE organization_id = $1 AND id = $2";
    /// Moves a passage, unless it was moved in the meantime.
    MOVE = "UPDATE comment_threads SET generation = $5, version = $6, from_position = $7, to_position = $8,
            quote = COALESCE(CAST($9 AS TEXT), quote)
        WHERE organization_id = $1 AND id = $2 AND generation = $3 AND version = $4";
    DELETE_COMMENT = "DELETE FROM document_comments WHERE organization_id = $1 AND thread_id = $2 AND id = $3";
    DELETE_THREAD = "DELETE FROM comment_threads WHERE organization_id = $1 AND id = $2";
    DELETE_COMMENTS = "DELETE FROM document_comments WHERE organization_id = $1 AND thread_id IN (
            SELECT id FROM comment_threads WHERE organization_id = $1 AND document_id = $2)";
    DELETE_THREADS = "DELETE FROM comment_threads WHERE organization_id = $1 AND document_id = $2";
}

impl ReadTx<'_> {
    /// Lists the threads of a document with their comments, oldest first. Their number is limited
    /// (`domain::comment`).
    pub fn comment_threads(&mut self, document: &DocumentId) -> Result<Vec<CommentThread>> {
        let mut threads = self.fetch_all(&THREADS, args![document], thread)?;
        if threads.is_empty() {
            return Ok(threads);
        }
        let mut comments: HashMap<CommentThreadId, Vec<DocumentComment>> = HashMap::new();
        for (thread, comment) in self.fetch_all(&COMMENTS, args![document], comment)? {
            comments.entry(thread).or_default().push(comment);
        }
        for thread in &mut threads {
            thread.comments = comments.remove(&thread.id).unwrap_or_default();
        }
        Ok(threads)
    }

    /// Returns a thread of a document with its comments.
    pub fn comment_thread(&mut self, document: &DocumentId, id: &CommentThreadId) -> Result<CommentThread> {
        let mut thread = self.fetch_one(&THREAD, args![document, id], thread)?;
        let comments = self.fetch_all(&COMMENTS_OF_THREAD, args![document, id], comment)?;
        thread.comments = comments.into_iter().map(|(_, comment)| comment).collect();
        Ok(thread)
    }

    /// Lists the members of a group and the teachers of its class by name, at most 200, which is more than the members
    /// that a group can have.
    pub fn people_of_group(&mut self, group: &GroupId) -> Result<Vec<PersonOfGroup>> {
        let now = self.now();
        self.fetch_all(
            &PEOPLE,
            args![group, now],
            |row| from_row!(row => PersonOfGroup { can_view, person: person(row)? }),
        )
    }

    /// Counts the threads and comments of a document.
    pub fn comment_counts(&mut self, document: &DocumentId) -> Result<CommentCounts> {
        self.fetch_one(
            &COUNTS,
            args![document],
            |row| from_row!(row => CommentCounts { threads, comments, latest }),
        )
    }

    /// Counts the comments on a document that the calling user has not read.
    pub fn unread_comments(&mut self, document: &DocumentId) -> Result<UnreadComments> {
        let found = self.unread(&UNREAD_OF_DOCUMENT, document.as_str())?;
        Ok(found.get(document).copied().unwrap_or_default())
    }

    /// Counts the comments that the calling user has not read, by document of a room. Documents without any are missing.
    pub fn unread_comments_of_room(&mut self, room: &WorkRoomId) -> Result<HashMap<DocumentId, UnreadComments>> {
        self.unread(&UNREAD_OF_ROOM, room.as_str())
    }

    /// Counts the comments that the calling user has not read, by document of the groups on a topic. Documents without any
    /// are missing.
    pub fn unread_comments_of_topic(&mut self, topic: &AssignmentId) -> Result<HashMap<DocumentId, UnreadComments>> {
        self.unread(&UNREAD_OF_TOPIC, topic.as_str())
    }

    fn unread(&mut self, statement: &'static Sql, of: &str) -> Result<HashMap<DocumentId, UnreadComments>> {
        let user = self.user_text();
        let mention = format!("@[{user}]");
        let found = self.fetch_all(statement, args![of, user, mention], |row| {
            let unread = from_row!(row => UnreadComments { comments, mentions })?;
            Ok((row.get("id")?, unread))
        });
        Ok(found?.into_iter().collect())
    }

    /// Returns the time up to which the calling user has read the comments on a document.
    pub fn comments_read_until(&mut self, document: &DocumentId) -> Result<Option<Timestamp>> {
        let user = self.user_text();
        self.fetch_optional(&READ_UNTIL, args![document, user], |row| row.only())
    }

    /// Lists the threads about passages of a generation.
    pub fn comment_anchors(
        &mut self,
        document: &DocumentId,
        generation: i64,
    ) -> Result<Vec<(CommentThreadId, CommentAnchor)>> {
        let found = self.fetch_all(&ANCHORS, args![document, generation], |row| {
            Ok((row.get("id")?, anchor(row)?))
        })?;
        let with_anchor = found.into_iter().filter_map(|(id, anchor)| Some((id, anchor?)));
        Ok(with_anchor.collect())
    }
}

impl WriteTx<'_> {
    /// Inserts a thread without its comments.
    pub fn insert_comment_thread(&mut self, new: &CommentThread) -> Result<()> {
        let anchor = new.anchor.as_ref();
        self.execute(
            &INSERT_THREAD,
            args![
                new.id,
                new.document_id,
                anchor.map(|anchor| anchor.generation),
                anchor.map(|anchor| anchor.version),
                anchor.map(|anchor| anchor.from),
                anchor.map(|anchor| anchor.to),
                new.quote,
                new.created_at,
            ],
        )
    }

    pub fn insert_comment(&mut self, thread: &CommentThreadId, new: &DocumentComment) -> Result<()> {
        let arguments = args![new.id, thread, new.author.id, new.text, new.created_at];
        self.execute(&INSERT_COMMENT, arguments)
    }

    /// Updates the text of a comment.
    pub fn update_comment(&mut self, thread: &CommentThreadId, comment: &DocumentComment) -> Result<()> {
        let arguments = args![thread, comment.id, comment.text, comment.edited_at];
        self.execute(&UPDATE_COMMENT, arguments)
    }

    /// Stores whether a thread is resolved, and by whom.
    pub fn update_resolution(&mut self, thread: &CommentThread) -> Result<()> {
        let resolution = thread.resolution.as_ref();
        let at = resolution.map(|resolution| resolution.resolved_at);
        let by = resolution.map(|resolution| &resolution.resolved_by.id);
        self.execute(&SET_RESOLUTION, args![thread.id, at, by])
    }

    /// Moves the passage of a thread from one version to another, or records that it was deleted. A new quote
    /// replaces the former one. A passage that was moved in the meantime stays where it is.
    pub fn move_comment_anchor(
        &mut self,
        thread: &CommentThreadId,
        from: &CommentAnchor,
        to: Option<&CommentAnchor>,
        quote: Option<&str>,
    ) -> Result<()> {
        self.execute(
            &MOVE,
            args![
                thread,
                from.generation,
                from.version,
                to.map(|anchor| anchor.generation),
                to.map(|anchor| anchor.version),
                to.map(|anchor| anchor.from),
                to.map(|anchor| anchor.to),
                quote,
            ],
        )
    }

    /// Deletes a comment, with its thread if it is the last one.
    pub fn delete_comment(&mut self, thread: &CommentThreadId, id: &CommentId, is_last: bool) -> Result<()> {
        if self.execute_counted(&DELETE_COMMENT, args![thread, id])? == 0 {
            return Err(Error::NotFound);
        }
        if is_last {
            self.execute(&DELETE_THREAD, args![thread])?;
        }
        Ok(())
    }

    /// Stores the time up to which a user has read the comments on a document.
    pub fn set_comments_read_until(&mut self, document: &DocumentId, user: &UserId, until: Timestamp) -> Result<()> {
        self.execute(&SET_READ_UNTIL, args![document, user, until])
    }

    /// Deletes the comments on a document that is being deleted.
    pub(super) fn delete_comments_of_document(&mut self, document: &DocumentId) -> Result<()> {
        self.execute(&DELETE_READS, args![document])?;
        self.execute(&DELETE_COMMENTS, args![document])?;
        self.execute(&DELETE_THREADS, args![document])
    }
}

fn thread(row: &Columns<'_>) -> Result<CommentThread> {
    let resolved_at = row.get::<Option<_>>("resolved_at")?;
    let resolution = resolved_at.zip(optional_person(row)?);
    from_row!(row => CommentThread {
        id, document_id, quote, created_at,
        anchor: anchor(row)?,
        resolution: resolution.map(|(resolved_at, resolved_by)| Resolution { resolved_at, resolved_by }),
        comments: Vec::new(),
    })
}

fn anchor(row: &Columns<'_>) -> Result<Option<CommentAnchor>> {
    let Some(generation) = row.get::<Option<i64>>("generation")? else {
        return Ok(None);
    };
    from_row!(row => CommentAnchor { generation: generation, version, from = "from_position", to = "to_position" })
        .map(Some)
}

fn comment(row: &Columns<'_>) -> Result<(CommentThreadId, DocumentComment)> {
    let comment = from_row!(row => DocumentComment { id, text, created_at, edited_at, author: person(row)? })?;
    Ok((row.get("thread_id")?, comment))
}
