//! Stored files and what may be uploaded. The bytes live elsewhere; here is only what is known about them.

use serde::{Deserialize, Serialize};

use crate::id::{
    AssignmentId, AttachmentId, GroupAssignmentId, GroupId, MessageId, OrganizationId, UserId, WorkRoomId,
};
use crate::text::FileName;
use crate::time::Timestamp;
use crate::word::words;

/// The name under which bytes are stored; never shown to anybody.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileKey(String);

impl FileKey {
    /// Takes the key as it is.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// The text of the key.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for FileKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(&self.0)
    }
}

/// The most files of one assignment, and of one group.
pub const FILES_MAX: usize = 20;

words! {
    /// What may be uploaded; everything else is refused, also when its name lies.
    FileType {
        /// Portable document.
        Pdf = "pdf",
        /// Text document.
        Docx = "docx",
        /// Spreadsheet.
        Xlsx = "xlsx",
        /// Presentation.
        Pptx = "pptx",
        /// Open text document.
        Odt = "odt",
        /// Open spreadsheet.
        Ods = "ods",
        /// Open presentation.
        Odp = "odp",
        /// Plain text.
        Txt = "txt",
        /// Markdown.
        Md = "md",
        /// Comma-separated values.
        Csv = "csv",
        /// Picture.
        Png = "png",
        /// Picture.
        Jpg = "jpg",
        /// Picture.
        Gif = "gif",
        /// Picture.
        Webp = "webp",
        /// Drawing; only ever downloaded, for it may carry scripts.
        Svg = "svg",
        /// Sound.
        Mp3 = "mp3",
        /// Sound.
        M4a = "m4a",
        /// Film.
        Mp4 = "mp4",
        /// Film.
        Webm = "webm",
        /// Archive.
        Zip = "zip",
    }
}

impl FileType {
    /// The type that a file name claims by its extension, in any case.
    pub fn of_name(name: &str) -> Option<Self> {
        let extension = name.rsplit_once('.')?.1.to_ascii_lowercase();
        match extension.as_str() {
            "jpeg" => Some(Self::Jpg),
            "markdown" => Some(Self::Md),
            other => Self::parse(other),
        }
    }

    /// The media type with which it is served.
    pub const fn mime(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            Self::Odt => "application/vnd.oasis.opendocument.text",
            Self::Ods => "application/vnd.oasis.opendocument.spreadsheet",
            Self::Odp => "application/vnd.oasis.opendocument.presentation",
            Self::Txt => "text/plain; charset=utf-8",
            Self::Md => "text/markdown; charset=utf-8",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Png => "image/png",
            Self::Jpg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Svg => "image/svg+xml",
            Self::Mp3 => "audio/mpeg",
            Self::M4a => "audio/mp4",
            Self::Mp4 => "video/mp4",
            Self::Webm => "video/webm",
            Self::Zip => "application/zip",
        }
    }
}

/// What is known about stored bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// Where the bytes are.
    pub key: FileKey,
    /// The name the uploader gave it.
    pub file_name: FileName,
    /// The media type.
    pub mime_type: String,
    /// Bytes.
    pub size: i64,
    /// Hexadecimal SHA-256 of the bytes.
    pub sha256: String,
}

/// A file that a teacher adds to an assignment, for all groups or for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignmentAttachment {
    /// Its id.
    pub id: AttachmentId,
    /// The tenant.
    pub organization_id: OrganizationId,
    /// The assignment it belongs to.
    pub assignment_id: AssignmentId,
    /// None: for the whole topic. Some: for that group only.
    pub group_assignment_id: Option<GroupAssignmentId>,
    /// The bytes.
    pub file: StoredFile,
    /// Set while the file waits for the bulk edit that names it; nobody but staff sees it.
    pub staged_at: Option<Timestamp>,
    /// Who uploaded it.
    pub uploaded_by_id: UserId,
    /// When.
    pub created_at: Timestamp,
}

/// A file that a teacher adds to a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupAttachment {
    /// Its id.
    pub id: AttachmentId,
    /// The tenant.
    pub organization_id: OrganizationId,
    /// The group it belongs to.
    pub group_id: GroupId,
    /// The bytes.
    pub file: StoredFile,
    /// Who uploaded it.
    pub uploaded_by_id: UserId,
    /// When.
    pub created_at: Timestamp,
}

/// A file of the chat; it waits without a message until one names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageAttachment {
    /// Its id.
    pub id: AttachmentId,
    /// The tenant.
    pub organization_id: OrganizationId,
    /// The room it was uploaded to.
    pub work_room_id: WorkRoomId,
    /// The message that names it.
    pub message_id: Option<MessageId>,
    /// The bytes.
    pub file: StoredFile,
    /// Who uploaded it.
    pub uploaded_by_id: UserId,
    /// When.
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides_and_scripts_and_macros_are_no_type() {
        assert_eq!(FileType::of_name("Photo.JPEG"), Some(FileType::Jpg));
        assert_eq!(FileType::of_name("a.tar.zip"), Some(FileType::Zip));
        for refused in [
            "page.html",
            "run.exe",
            "a.js",
            "letter.docm",
            "sheet.xlsm",
            "noextension",
            "trailing.",
        ] {
            assert_eq!(FileType::of_name(refused), None, "{refused}");
        }
    }

    #[test]
    fn every_type_has_a_media_type_and_its_own_word() {
        for kind in FileType::ALL {
            assert!(kind.mime().contains('/'));
            assert_eq!(FileType::of_name(&format!("x.{kind}")), Some(*kind));
        }
    }
}
