//! Metadata of stored files, and the file types accepted for upload. The content itself is kept by the file storage.

use serde::{Deserialize, Serialize};

use crate::id::{
    AssignmentId, AttachmentId, ConversionSourceId, GroupAssignmentId, GroupId, MessageId, OrganizationId,
    SubmissionId, UserId, WorkRoomId,
};
use crate::stored::stored;
use crate::string_enum::string_enum;
use crate::text::FileName;
use crate::time::Timestamp;

/// Key of a file in the storage. Never exposed to clients.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileKey(String);

stored!(FileKey as Text: |key| key.as_str(), |text| Some(Self::new(text)), Self::new(""));

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

string_enum! {
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

string_enum! {
    /// A file format of Office before 2007, or Rich Text Format. Such a file is not stored: the document server converts it at
    /// upload.
    LegacyFormat {
        /// Text document of Word.
        Doc = "doc",
        /// Rich Text Format.
        Rtf = "rtf",
        /// Spreadsheet of Excel.
        Xls = "xls",
        /// Presentation of PowerPoint.
        Ppt = "ppt",
    }
}

impl LegacyFormat {
    /// The format that a file name claims by its extension, in any case.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::parse(&name.rsplit_once('.')?.1.to_ascii_lowercase())
    }

    /// The type to which files of this format are converted.
    pub const fn successor(self) -> FileType {
        match self {
            Self::Doc | Self::Rtf => FileType::Docx,
            Self::Xls => FileType::Xlsx,
            Self::Ppt => FileType::Pptx,
        }
    }

    /// The media type with which the document server fetches such a file.
    pub const fn mime(self) -> &'static str {
        match self {
            Self::Doc => "application/msword",
            Self::Rtf => "application/rtf",
            Self::Xls => "application/vnd.ms-excel",
            Self::Ppt => "application/vnd.ms-powerpoint",
        }
    }
}

/// An uploaded file that is stored only while the document server converts it. All that is known of it is in its key, so that
/// every instance can serve it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionSource {
    /// Its id.
    pub id: ConversionSourceId,
    /// Its format.
    pub format: LegacyFormat,
    /// Bytes.
    pub size: i64,
    /// Hexadecimal SHA-256 of the bytes.
    pub sha256: String,
}

impl ConversionSource {
    /// Where the bytes are.
    pub fn file_key(&self) -> FileKey {
        let Self {
            id,
            format,
            size,
            sha256,
        } = self;
        FileKey::new(format!("source.{id}.{size}.{sha256}.{format}"))
    }

    /// Reads a key of [`Self::file_key`].
    pub fn parse(key: &FileKey) -> Option<Self> {
        let mut parts = key.as_str().split('.');
        let (Some("source"), Some(id), Some(size), Some(sha256), Some(format), None) = (
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
        ) else {
            return None;
        };
        Some(Self {
            id: ConversionSourceId::new(id),
            format: LegacyFormat::parse(format)?,
            size: size.parse().ok()?,
            sha256: sha256.to_owned(),
        })
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

/// Maximum number of files of a grade.
pub const GRADE_FILES_MAX: usize = 5;

/// A file that staff attached to the grade of a submission, for the group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GradeFile {
    pub id: AttachmentId,
    pub submission_id: SubmissionId,
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
    fn upload_type_follows_extension_without_scripts_and_macros() {
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
    fn legacy_format_has_a_current_successor_type() {
        for format in LegacyFormat::ALL {
            let name = format!("Report.{}", format.as_str().to_uppercase());
            assert_eq!(LegacyFormat::of_name(&name), Some(*format));
            assert_eq!(FileType::of_name(&name), None);
            assert!(FileType::ALL.contains(&format.successor()) && format.mime().contains('/'));
        }
        assert_eq!(LegacyFormat::of_name("report.docx"), None);
    }

    #[test]
    fn conversion_source_is_read_back_from_its_key() {
        let source = ConversionSource {
            id: ConversionSourceId::new("0190a1b2-0000-7000-8000-000000000001"),
            format: LegacyFormat::Ppt,
            size: 70_000,
            sha256: "ab".repeat(32),
        };
        assert_eq!(ConversionSource::parse(&source.file_key()), Some(source));
        for other in [
            "source.x.1.y.docx",
            "source.x.y.z.doc",
            "x.1.y.doc",
            "source.a.1.b.doc.doc",
        ] {
            assert_eq!(ConversionSource::parse(&FileKey::new(other)), None, "{other}");
        }
    }

    #[test]
    fn every_upload_type_has_media_type_and_unique_word() {
        for kind in FileType::ALL {
            assert!(kind.mime().contains('/'));
            assert_eq!(FileType::of_name(&format!("x.{kind}")), Some(*kind));
        }
    }
}
