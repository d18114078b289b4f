//! Files of a person: what he uploaded, and the newest version he wrote of every document he wrote in. Older versions are
//! named in the list of versions; their bytes are those of the group.

use model::file::FileKey;
use model::id::UserId;

use super::PAGE;
use crate::Scope;
use crate::sql::{Columns, Sql};
use crate::{args, statements};
use common::error::Result;

statements! {
    /// Files he brought into a chat.
    CHAT = "SELECT id, file_name, '', file_key, sha256 FROM message_attachments
        WHERE organization_id = $1 AND uploaded_by_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// Files he added to topics.
    TOPICS = "SELECT id, file_name, '', file_key, sha256 FROM assignment_attachments
        WHERE organization_id = $1 AND uploaded_by_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// Files he added to groups.
    GROUPS = "SELECT id, file_name, '', file_key, sha256 FROM group_attachments
        WHERE organization_id = $1 AND uploaded_by_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// The newest version he wrote of each document.
    DOCUMENTS = "SELECT r.id, d.title, d.file_extension, r.file_key, r.sha256
        FROM work_rooms w CROSS JOIN documents d CROSS JOIN document_revisions r
        WHERE w.organization_id = $1 AND d.organization_id = w.organization_id AND d.work_room_id = w.id
            AND r.organization_id = d.organization_id AND r.document_id = d.id AND (r.saved_by_id = $2 OR r.editors LIKE '%' || $2 || '%')
            AND NOT EXISTS (SELECT 1 FROM document_revisions n
                WHERE n.organization_id = $1 AND n.document_id = r.document_id AND n.version > r.version
                    AND (n.saved_by_id = $2 OR n.editors LIKE '%' || $2 || '%'))
            AND r.id > $3 ORDER BY r.id LIMIT $4";
}

/// Where files come from: the folder in the archive and how they are found.
#[derive(Debug)]
pub struct Folder {
    /// The folder's name.
    pub name: &'static str,
    statement: &'static Sql,
}

/// Every folder of files, in the order of the archive.
pub static FOLDERS: &[Folder] = &[
    Folder {
        name: "documents",
        statement: &DOCUMENTS,
    },
    Folder {
        name: "chat-files",
        statement: &CHAT,
    },
    Folder {
        name: "topic-files",
        statement: &TOPICS,
    },
    Folder {
        name: "group-files",
        statement: &GROUPS,
    },
];

/// A file of a person.
#[derive(Debug, Clone)]
pub struct PersonalFile {
    /// The row that names it; files are read by it.
    pub id: String,
    /// Its name; of a document, its title.
    pub name: String,
    /// The extension that a title lacks; empty where the name has it.
    pub extension: String,
    /// The bytes.
    pub key: FileKey,
    /// Hexadecimal SHA-256 of the bytes.
    pub sha256: String,
}

impl Scope<'_> {
    /// Files of a person in one folder, after one of them; empty at the end.
    pub fn personal_files(&mut self, folder: &'static Folder, user: &UserId, after: &str) -> Result<Vec<PersonalFile>> {
        self.many(folder.statement, args![user, after, PAGE], file)
    }
}

fn file(row: &mut Columns<'_>) -> Result<PersonalFile> {
    Ok(PersonalFile {
        id: row.take()?,
        name: row.take()?,
        extension: row.take()?,
        key: FileKey::new(row.take::<String>()?),
        sha256: row.take()?,
    })
}
