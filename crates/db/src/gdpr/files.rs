//! Files of a user: uploads, and the newest revision they wrote of each document. Older revisions are listed in the
//! table of revisions; their content belongs to the group.

use domain::file::FileKey;
use domain::id::UserId;

use super::PAGE;
use crate::sql::{Columns, Sql};
use crate::{ReadTx, args, from_row, statements};
use common::error::Result;

statements! {
    /// Uploads to chats.
    CHAT = "SELECT id, file_name AS name, '' AS extension, file_key, sha256 FROM message_attachments
        WHERE organization_id = $1 AND uploaded_by_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// Uploads to topics.
    TOPICS = "SELECT id, file_name AS name, '' AS extension, file_key, sha256 FROM assignment_attachments
        WHERE organization_id = $1 AND uploaded_by_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// Uploads to groups.
    GROUPS = "SELECT id, file_name AS name, '' AS extension, file_key, sha256 FROM group_attachments
        WHERE organization_id = $1 AND uploaded_by_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// Uploads to grades.
    GRADES = "SELECT id, file_name AS name, '' AS extension, file_key, sha256 FROM grade_files
        WHERE organization_id = $1 AND uploaded_by_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// Pictures that the user added to documents.
    IMAGES = "SELECT id, '' AS name, CASE mime_type WHEN 'image/jpeg' THEN 'jpg' ELSE SUBSTR(mime_type,
        7) END AS extension,
            file_key, sha256
        FROM document_images
        WHERE organization_id = $1 AND uploaded_by_id = $2 AND id > $3 ORDER BY id LIMIT $4";
    /// The newest revision the user wrote of each document.
    DOCUMENTS = "SELECT r.id, d.title AS name, d.file_extension AS extension, r.file_key, r.sha256
        FROM work_rooms w CROSS JOIN documents d CROSS JOIN document_revisions r
        WHERE w.organization_id = $1 AND d.organization_id = w.organization_id AND d.work_room_id = w.id
            AND r.organization_id = d.organization_id AND r.document_id = d.id AND (r.saved_by_id = $2
            OR r.editors LIKE '%' || $2 || '%')
            AND NOT EXISTS (SELECT 1 FROM document_revisions n
                WHERE n.organization_id = $1 AND n.document_id = r.document_id AND n.version > r.version
                    AND (n.saved_by_id = $2 OR n.editors LIKE '%' || $2 || '%'))
            AND r.id > $3 ORDER BY r.id LIMIT $4";
}

/// A folder of the archive and the query of its files.
#[derive(Debug)]
pub struct Folder {
    pub name: &'static str,
    statement: &'static Sql,
}

/// All folders, in the order of the archive.
pub static FOLDERS: &[Folder] = &[
    Folder {
        name: "documents",
        statement: &DOCUMENTS,
    },
    Folder {
        name: "document-images",
        statement: &IMAGES,
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
        name: "grade-files",
        statement: &GRADES,
    },
    Folder {
        name: "group-files",
        statement: &GROUPS,
    },
];

/// A file of a user.
#[derive(Debug, Clone)]
pub struct PersonalFile {
    /// The id of the row that refers to the file.
    pub id: String,
    /// The file name, or the title of a document.
    pub name: String,
    /// The file extension of a document; empty if `name` contains it.
    pub extension: String,
    pub key: FileKey,
    /// Hexadecimal SHA-256.
    pub sha256: String,
}

impl ReadTx<'_> {
    /// Lists a page of the files of a user in one folder, after the given row; empty at the end.
    pub fn personal_files(&mut self, folder: &'static Folder, user: &UserId, after: &str) -> Result<Vec<PersonalFile>> {
        self.fetch_all(folder.statement, args![user, after, PAGE], file)
    }
}

fn file(row: &Columns<'_>) -> Result<PersonalFile> {
    from_row!(row => PersonalFile { id, name, extension, key = "file_key", sha256 })
}
