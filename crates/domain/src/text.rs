//! Text types of request fields. Each declares its limits once, for deserialization, validation and the `OpenAPI`
//! document. Deserialization trims and never fails; [`garde::Validate`] rejects invalid texts, so that all invalid
//! fields of a request are reported together. Single-line texts are normalized to Unicode NFC, except ids of other
//! systems.
//!
//! A text that is empty after trimming counts as missing: required texts reject it, optional fields become null with
//! `#[serde(default, deserialize_with = "domain::text::optional")]` (or [`crate::patch::optional_text`] in a PATCH), or
//! later with [`none_if_empty`].

use std::sync::Arc;

use serde::de::IntoDeserializer;
use serde::{Deserialize, Deserializer};
use unicode_normalization::{UnicodeNormalization, is_nfc};
use utoipa::openapi::Schema;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};

/// Why a text is rejected; a clause that follows the name of the field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Empty after trimming, but required.
    #[error("is required")]
    Missing,
    #[error("must be at most {0} characters")]
    TooLong(usize),
    #[error("must be at least {0} characters")]
    TooShort(usize),
    /// A control character that is not allowed in such a text.
    #[error("must not contain control characters")]
    ControlCharacter,
    /// Without any visible character.
    #[error("must have a visible character")]
    Invisible,
    /// A zero-width character, or one that changes the text direction.
    #[error("must not contain invisible characters")]
    HiddenCharacter,
    /// Not a color of the form `#rrggbb`.
    #[error("must be a colour such as #3366cc")]
    NotAColor,
    /// Not a valid name in URLs.
    #[error("must be 2 to 63 of the characters a-z, 0-9 and -")]
    NotASlug,
    /// Not a user name.
    #[error("must be 2 to 60 of the characters a-z, 0-9, '.', '-' and '_', with a letter or digit first and last")]
    NotAUserName,
    /// Not a host name.
    #[error("must be a host in lower case such as learn.school.example, without port")]
    NotAHost,
    /// Not an HTTP URL.
    #[error("must be an address that begins with https:// or http://")]
    NotAnAddress,
}

/// Common interface of the text types.
pub trait Text {
    /// Returns the trimmed text.
    fn as_str(&self) -> &str;
}

/// Shape of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextFormat {
    /// A single line, normalized to NFC.
    SingleLine,
    /// A single line in lower case.
    LowerCase,
    /// A single line that another system compares byte by byte; not normalized.
    Opaque,
    /// Several lines.
    MultiLine,
}

/// Trims the text, normalizes single lines to NFC or lower case, and converts line breaks to `\n`.
fn normalize(text: &str, format: TextFormat) -> String {
    let trimmed = text.trim();
    match format {
        TextFormat::SingleLine if !is_nfc(trimmed) => trimmed.nfc().collect(),
        TextFormat::MultiLine if trimmed.contains('\r') => trimmed.replace("\r\n", "\n").replace('\r', "\n"),
        TextFormat::LowerCase => trimmed.to_lowercase(),
        TextFormat::SingleLine | TextFormat::Opaque | TextFormat::MultiLine => trimmed.to_owned(),
    }
}

fn check(text: &str, format: TextFormat, min: usize, max: usize) -> Result<(), TextError> {
    // A text has at most as many characters as bytes, so most texts need not be counted.
    if text.len() > max && text.chars().count() > max {
        return Err(TextError::TooLong(max));
    }
    if text.is_empty() && min > 0 {
        return Err(TextError::Missing);
    }
    if min > 1 && text.chars().count() < min {
        return Err(TextError::TooShort(min));
    }
    let allowed = |character: char| {
        !character.is_control() || (format == TextFormat::MultiLine && matches!(character, '\n' | '\t'))
    };
    if !text.chars().all(allowed) {
        return Err(TextError::ControlCharacter);
    }
    match format {
        TextFormat::SingleLine | TextFormat::LowerCase | TextFormat::Opaque => crate::visible_text::check(text),
        TextFormat::MultiLine => Ok(()),
    }
}

/// Defines text types together with their limits.
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident: $format:ident $min:tt to $max:tt$(, $extra:path)?;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, utoipa::ToSchema)]
        #[schema(value_type = String, min_length = $min, max_length = $max)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Minimum length in characters.
            pub const MIN: usize = $min;
            /// Maximum length in characters.
            pub const MAX: usize = $max;

            /// Returns the trimmed text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            pub fn into_string(self) -> String {
                self.0.as_ref().to_owned()
            }

            /// Returns whether the text is empty after trimming.
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }

            /// Wraps a text that was validated before, such as a database column.
            pub fn stored(text: impl AsRef<str>) -> Self {
                Self(text.as_ref().into())
            }

            /// Checks the limits of the text.
            pub fn check(&self) -> Result<(), TextError> {
                check(&self.0, TextFormat::$format, $min, $max)?;
                $($extra(&self.0)?;)?
                Ok(())
            }
        }

        impl Text for $name {
            fn as_str(&self) -> &str {
                &self.0
            }
        }

        // Texts are not validated again when they are read.
        crate::stored::stored!($name as Text: |text| text.as_str(), |text| Some(Self::stored(text)), Self::stored(""));

        impl TryFrom<&str> for $name {
            type Error = TextError;

            fn try_from(text: &str) -> Result<Self, TextError> {
                let text = Self(normalize(text, TextFormat::$format).into());
                text.check()?;
                Ok(text)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            /// Trims without checking; validation happens later.
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                Ok(Self(normalize(&text, TextFormat::$format).into()))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl garde::Validate for $name {
            type Context = ();

            fn validate_into(
                &self,
                (): &(),
                parent: &mut dyn FnMut() -> garde::Path,
                report: &mut garde::Report,
            ) {
                if let Err(reason) = self.check() {
                    report.append(parent(), garde::Error::new(reason));
                }
            }
        }
    )+};
}

texts! {
    /// Name of a user, a class, a course or an organization.
    Name: SingleLine 1 to 120;
    /// Name of a group, a subject or a homeroom; also the display name of a group and a first or last name.
    ShortName: SingleLine 1 to 80;
    /// User name for signing in, unique within the organization that created the account.
    Username: LowerCase 2 to 60, user_name;
    /// Title of an assignment (topic).
    Title: SingleLine 1 to 200;
    /// Title of a document.
    DocumentTitle: SingleLine 1 to 120;
    /// Original name of an uploaded file.
    FileName: SingleLine 1 to 200;
    /// Description of a course.
    CourseDescription: MultiLine 0 to 5000;
    /// Task text of an assignment, or a group's own task text.
    Description: MultiLine 0 to 20000;
    /// Description of a subject.
    SubjectDescription: MultiLine 0 to 1000;
    /// Message of a help request.
    HelpMessage: MultiLine 0 to 500;
    /// Short note on a submission, an unsubmission or a resolved help request.
    Note: MultiLine 0 to 1000;
    /// Text of a room message; required unless files are attached.
    ChatText: MultiLine 0 to 4000;
    /// Text of a comment on a document.
    CommentText: MultiLine 1 to 2000;
    /// Subject of a direct message.
    MessageSubject: SingleLine 1 to 200;
    /// Text of a feedback.
    FeedbackText: MultiLine 1 to 10000;
    /// A text that a teacher inserts into feedback.
    SnippetText: MultiLine 1 to 2000;
    /// Title of a rubric.
    RubricTitle: SingleLine 1 to 120;
    /// Title of a criterion of a rubric.
    CriterionTitle: SingleLine 1 to 200;
    /// Label of a level of a criterion.
    LevelLabel: SingleLine 1 to 80;
    /// Description of a criterion or a level, or a comment on a filled criterion.
    CriterionNote: MultiLine 1 to 1000;
    /// Search term.
    Search: SingleLine 0 to 100;
    /// Short code of a subject, such as "BIO".
    SubjectCode: SingleLine 1 to 20;
    /// Color of a subject, `#rrggbb`.
    Color: SingleLine 7 to 7, color;
    /// School year of a class, such as "2026/2027".
    AcademicYear: SingleLine 1 to 20;
    /// Free-form label of a semester, such as "1" or "H".
    Semester: SingleLine 1 to 20;
    /// Free-form label of the grade level of a homeroom.
    GradeLevel: SingleLine 1 to 20;
    /// Name of the room of a lesson.
    RoomName: SingleLine 1 to 40;
    /// Grade scale of an assignment, as free text.
    GradeScale: SingleLine 1 to 200;
    /// A value of the grade scale.
    GradeValue: SingleLine 1 to 20;
    /// Id of a user, class or homeroom in the school's administration system.
    ExternalId: Opaque 1 to 120;
    /// Id assigned to a room message by the client, to detect repeated requests.
    ClientMessageId: Opaque 1 to 64;
    /// Language of a user, such as "en" or "de-CH".
    Locale: SingleLine 1 to 35;
    /// What users read during maintenance.
    MaintenanceMessage: SingleLine 1 to 300;
    /// Time zone of a user, such as "Europe/Berlin".
    TimeZone: SingleLine 1 to 64;
    /// Name of an organization in URLs, also its subdomain.
    Slug: SingleLine 2 to 63, slug;
    /// Custom host name of an organization.
    CustomDomain: SingleLine 4 to 253, host;
    /// URL of an image.
    WebAddress: Opaque 1 to 2000, web_address;
}

fn color(text: &str) -> Result<(), TextError> {
    let digits = text.strip_prefix('#').ok_or(TextError::NotAColor)?;
    if digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Ok(())
    } else {
        Err(TextError::NotAColor)
    }
}

fn user_name(text: &str) -> Result<(), TextError> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-_".contains(&byte);
    let is_edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    if text.bytes().all(fits) && is_edge(text.bytes().next()) && is_edge(text.bytes().last()) {
        Ok(())
    } else {
        Err(TextError::NotAUserName)
    }
}

fn slug(text: &str) -> Result<(), TextError> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if text.bytes().all(fits) {
        Ok(())
    } else {
        Err(TextError::NotASlug)
    }
}

/// Requires at least two labels, the last one with an alphabetic character: an IP address is not a domain.
fn host(text: &str) -> Result<(), TextError> {
    let label = |label: &str| {
        (1..=63).contains(&label.len()) && slug(label).is_ok() && !label.starts_with('-') && !label.ends_with('-')
    };
    let last = text.rsplit('.').next().unwrap_or_default();
    let fits = text.contains('.') && text.split('.').all(label) && last.bytes().any(|byte| byte.is_ascii_lowercase());
    if fits { Ok(()) } else { Err(TextError::NotAHost) }
}

fn web_address(text: &str) -> Result<(), TextError> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let fits = rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
        && !text
            .chars()
            .any(|character| character.is_whitespace() || "\"<>\\".contains(character));
    if fits { Ok(()) } else { Err(TextError::NotAnAddress) }
}

/// Turns a text that is empty after trimming into `None`.
pub fn none_if_empty<T: Text>(text: Option<T>) -> Option<T> {
    text.filter(|text| !text.as_str().is_empty())
}

/// For `#[serde(default, deserialize_with = "domain::text::optional")]`: null and an empty text both become `None`.
pub fn optional<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Text,
{
    Option::<T>::deserialize(deserializer).map(none_if_empty)
}

/// For `#[serde(default, deserialize_with = "domain::text::optional_label")]`: a label that may also be sent as a
/// number.
pub fn optional_label<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Text,
{
    let label = Option::<Label>::deserialize(deserializer)?;
    let label = label.map(|Label(text)| T::deserialize(text.into_deserializer()));
    label.transpose().map(none_if_empty)
}

/// A text, or an integer converted to text.
struct Label(String);

impl<'de> Deserialize<'de> for Label {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LabelVisitor)
    }
}

struct LabelVisitor;

impl serde::de::Visitor<'_> for LabelVisitor {
    type Value = Label;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a string or a whole number")
    }

    fn visit_str<E>(self, text: &str) -> Result<Label, E> {
        Ok(Label(text.to_owned()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Label, E> {
        Ok(Label(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Label, E> {
        Ok(Label(number.to_string()))
    }
}

/// Schema of a [`Semester`] in a request.
pub fn semester_schema() -> Schema {
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::String, Type::Integer, Type::Null]))
        .max_length(Some(Semester::MAX))
        .description(Some(
            "Semester, a free-form label; a number is accepted and converted to text.",
        ))
        .into()
}

/// Returns the form in which names are compared for equality: Unicode lower case. Searches and lists use
/// [`crate::collation`].
pub fn name_key(text: &str) -> String {
    text.trim().to_lowercase()
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
