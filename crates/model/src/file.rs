//! Metadata of stored files, and the file types accepted for upload. The content itself is kept by the file storage.

use serde::{Deserialize, Serialize};

use crate::id::{
    AssignmentId, AttachmentId, GroupAssignmentId, GroupId, MessageId, OrganizationId, UserId, WorkRoomId,
};
use crate::text::FileName;
use crate::time::Timestamp;
use crate::word::words;

/// Key of a file in the storage. Never exposed to clients.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileKey(String);

impl FileKey {
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for FileKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(&self.0)
    }
}

/// Maximum number of files of one assignment, and of one group.
pub const FILES_MAX: usize = 20;

words! {
    /// File types accepted for upload. Other files are rejected, also if the extension does not match the content.
    FileType {
        Pdf = "pdf",
        Docx = "docx",
        Xlsx = "xlsx",
        Pptx = "pptx",
        Odt = "odt",
        Ods = "ods",
        Odp = "odp",
        Txt = "txt",
        Md = "md",
        Csv = "csv",
        Png = "png",
        Jpg = "jpg",
        Gif = "gif",
        Webp = "webp",
        /// Always served as a download, because an SVG may contain scripts.
        Svg = "svg",
        Mp3 = "mp3",
        M4a = "m4a",
        Mp4 = "mp4",
        Webm = "webm",
        Zip = "zip",
    }
}

impl FileType {
    /// Returns the type indicated by the extension of a file name, ignoring case.
    pub fn of_name(name: &str) -> Option<Self> {
        let extension = name.rsplit_once('.')?.1.to_ascii_lowercase();
        match extension.as_str() {
            "jpeg" => Some(Self::Jpg),
            "markdown" => Some(Self::Md),
            other => Self::parse(other),
        }
    }

    /// Returns the media type for the `Content-Type` header.
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

/// Metadata of a stored file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    pub key: FileKey,
    /// The name given by the uploader.
    pub file_name: FileName,
    pub mime_type: String,
    /// Size in bytes.
    pub size: i64,
    /// SHA-256 of the content, hexadecimal.
    pub sha256: String,
}

/// A file attached to an assignment by a teacher, for all groups or for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignmentAttachment {
    pub id: AttachmentId,
    pub organization_id: OrganizationId,
    pub assignment_id: AssignmentId,
    /// The group the file is for; `None` if it is for all groups of the topic.
    pub group_assignment_id: Option<GroupAssignmentId>,
    pub file: StoredFile,
    /// Set until a bulk edit publishes the file; staged files are visible to staff only.
    pub staged_at: Option<Timestamp>,
    pub uploaded_by_id: UserId,
    pub created_at: Timestamp,
}

/// A file attached to a group by a teacher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupAttachment {
    pub id: AttachmentId,
    pub organization_id: OrganizationId,
    pub group_id: GroupId,
    pub file: StoredFile,
    pub uploaded_by_id: UserId,
    pub created_at: Timestamp,
}

/// A file attached to a room message. It is uploaded first and has no message until one refers to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageAttachment {
    pub id: AttachmentId,
    pub organization_id: OrganizationId,
    /// The room it was uploaded to.
    pub work_room_id: WorkRoomId,
    pub message_id: Option<MessageId>,
    pub file: StoredFile,
    pub uploaded_by_id: UserId,
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
