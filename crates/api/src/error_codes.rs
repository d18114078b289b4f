//! Error codes with a description for the OpenAPI document. A route names its own codes in `responses(.., description =
//! "CODE, CODE")`; the codes common to all routes of its kind are added here. Each code becomes a documented response.
//! See docs/api-contract.md#error-codes.

use better_auth::error::AuthError;
use domain::access::Access;

/// The codes of this service and their meaning.
const CODES: &[(&str, &str)] = &[
    ("ALREADY_SUBMITTED", "The document is handed in already."),
    ("ASSIGNMENT_FINISHED", "The topic is finished; a teacher can reopen it."),
    (
        "ASSIGNMENT_ID_REQUIRED",
        "The body does not say which topic this is for.",
    ),
    (
        "ASSIGNMENT_NOT_FINISHED",
        "The PDF is there once the topic is finished.",
    ),
    ("BAD_REQUEST", "The request does not fit; the message says why."),
    ("CLASS_ARCHIVED", "The class is archived and can only be read."),
    (
        "CLASS_MISMATCH",
        "Class, course, group, topic and subject do not belong together.",
    ),
    ("CLASS_NOT_EMPTY", "The class still holds courses, groups or topics."),
    ("COURSE_ARCHIVED", "The course is archived and takes nothing new."),
    (
        "COURSE_MISMATCH",
        "Groups and topic are in different courses; details names the groups.",
    ),
    (
        "DOCSERVER_ERROR",
        "The document server failed; details says what it named as the cause.",
    ),
    (
        "DISK_FULL",
        "The disk of the service is nearly full; whoever runs it has to make room.",
    ),
    ("DOCSERVER_TIMEOUT", "The document server did not answer in time."),
    (
        "DOCSERVER_TOKEN_INVALID",
        "The document-server token is forged or expired.",
    ),
    (
        "DOCSERVER_TOKEN_MISMATCH",
        "The document-server token is for another document.",
    ),
    ("DOCSERVER_TOKEN_MISSING", "There is no document-server token."),
    (
        "DOCUMENT_LOCKED",
        "The document is locked because its topic is finished, for every role.",
    ),
    (
        "DOMAIN_HELD",
        "Another organization holds the mail domain; a SUPER_ADMIN can let both hold it.",
    ),
    (
        "DOMAIN_NOT_PROVEN",
        "The TXT record that proves the mail domain was not found.",
    ),
    (
        "DOMAIN_UNANSWERED",
        "The name servers of the mail domain did not answer.",
    ),
    ("DUPLICATE_COURSE", "The class has a course of this name."),
    ("DUPLICATE_DOMAIN", "Another organization has this domain."),
    ("DUPLICATE_EMAIL", "Somebody of the organization has this address."),
    (
        "DUPLICATE_EXTERNAL_ID",
        "Something else of the organization has this external id.",
    ),
    (
        "DUPLICATE_GROUP_ASSIGNMENT",
        "The group works on the topic already, with another text.",
    ),
    ("DUPLICATE_GROUP_NUMBER", "The class has a group of this number."),
    ("DUPLICATE_HOMEROOM", "There is a homeroom of this name in this year."),
    (
        "DUPLICATE_MAIL_DOMAIN",
        "The organization added this mail domain already.",
    ),
    ("DUPLICATE_SLUG", "Another organization has this short name."),
    (
        "DUPLICATE_SUBJECT",
        "There is a subject of this name, whatever its case.",
    ),
    ("EDIT_TIME_OVER", "The first 15 minutes are over."),
    (
        "FIELD_NOT_ALLOWED",
        "The body sets a field that this route does not write.",
    ),
    ("FORBIDDEN", "Not for this caller; the message says why."),
    ("FORBIDDEN_RANK", "Only somebody of a higher rank may do this."),
    ("FORBIDDEN_ROLE", "Not for the caller's role."),
    ("GRADE_PUBLISHED", "The grade is published already."),
    ("GROUP_NOT_ON_ASSIGNMENT", "The group does not work on this topic."),
    ("HAS_SUBMISSION", "The group has handed in work for this topic."),
    ("HEADERS_TOO_LARGE", "The head of the request is larger than 16 KiB."),
    (
        "IDEMPOTENCY_KEY_REUSED",
        "The Idempotency-Key was used for another request of the same person within 24 hours.",
    ),
    ("IMPORT_HEADER", "The file lacks a column that is required."),
    (
        "INTERNAL_ERROR",
        "A fault of the service; the log has the cause under the request id.",
    ),
    (
        "INVALID_HOST",
        "The request has no Host, several, or one that is no host.",
    ),
    ("INVALID_JSON", "The body is not JSON."),
    ("INVALID_ORIGIN", "The request comes from a page of another origin."),
    ("LAST_OWNER", "The organization would lose its last owner."),
    (
        "LATE_NOT_ALLOWED",
        "The deadline is over and the topic takes no late work.",
    ),
    (
        "LEGACY_FILE_FORMAT",
        "A .doc, .rtf, .xls or .ppt file, which is not converted here; details names the format.",
    ),
    ("LIMIT_REACHED", "There are as many as there can be."),
    ("METHOD_NOT_ALLOWED", "The path does not know this method."),
    (
        "MISSING_OR_NULL_ORIGIN",
        "The request does not say which page it comes from.",
    ),
    (
        "NAME_SET_BY_SCHOOL",
        "Names of students are changed by the staff of their school.",
    ),
    ("NOTHING_TO_EXPORT", "There is no document to export."),
    (
        "ALREADY_INVITED",
        "The address was invited by another request in this moment.",
    ),
    ("NO_MAILBOX", "No email reaches this address, so it cannot be invited."),
    (
        "PASSWORD_NOT_CONFIRMED",
        "An administrator of another organization chose the password; a reset by email opens this one.",
    ),
    (
        "NOT_A_MEMBER",
        "The caller does not belong to the organization of the request.",
    ),
    ("NOT_AUTHOR", "Only the person who made this may change it."),
    (
        "NOT_CLASS_TEACHER",
        "Only the teachers of the class and admins may do this.",
    ),
    (
        "NOT_FOUND",
        "Unknown, of another organization, or invisible to the caller: always the same answer.",
    ),
    (
        "NOT_READY",
        "Something the service needs is down; Retry-After says when to try again.",
    ),
    ("NOT_SUBMITTED", "The document is not handed in."),
    (
        "NO_ACTIVE_ORGANIZATION",
        "Neither the session nor the Host names an organization.",
    ),
    (
        "ORGANIZATION_CHANGED",
        "X-Organization-Id does not name the organization in which the caller works now; nothing was done.",
    ),
    ("ORGANIZATION_SUSPENDED", "The organization is suspended."),
    ("OVERLOADED", "The service is busy; Retry-After says when to try again."),
    ("PAYLOAD_TOO_LARGE", "Body or file is larger than allowed."),
    (
        "PRECONDITION_FAILED",
        "The object has another version than If-Match names; `current` is the object as it is now, and ETag its version.",
    ),
    ("QUOTA_EXCEEDED", "The storage of the organization is used up."),
    ("RATE_LIMITED", "Too many requests; Retry-After says when to try again."),
    ("RANGE_NOT_SATISFIABLE", "The file has no such part."),
    ("SHARED_ACCOUNT", "The account is not this organization's alone."),
    (
        "STUDENT_NOT_ENROLLED",
        "Somebody named is not a student of the class; details names him.",
    ),
    ("SUBJECT_IN_USE", "Courses or groups use the subject."),
    ("UNAUTHENTICATED", "No session, or one that is over."),
    (
        "UNREADABLE_FILE",
        "The file is damaged or protected with a password; details says which.",
    ),
    ("UNSUPPORTED_FILE_TYPE", "Files of this type are not taken."),
    (
        "UNSUPPORTED_MEDIA_TYPE",
        "The body has another media type than this route reads.",
    ),
    ("URI_TOO_LONG", "The address of the request is longer than 8 KiB."),
    ("VALIDATION_ERROR", "Something does not fit; details names each field."),
];

/// The meaning of a code; `None` for an unknown code.
pub fn meaning(code: &str) -> Option<String> {
    let ours = CODES.iter().find(|(known, _)| *known == code);
    ours.map(|(_, meaning)| (*meaning).to_owned()).or_else(|| {
        let library = AuthError::all().into_iter();
        let mut found = library.filter(|refusal| refusal.code == Some(code));
        found
            .next()
            .map(|refusal| format!("{}.", refusal.message.trim_end_matches('.')))
    })
}

/// The parts of a description that look like error codes, known or not.
pub fn codes_in(description: &str) -> Vec<&str> {
    let words = description.split(|character: char| !(character.is_ascii_alphanumeric() || character == '_'));
    let capital = |word: &&str| {
        let plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        word.len() > 5 && word.bytes().all(plain) && word.bytes().next().is_some_and(|byte| byte.is_ascii_uppercase())
    };
    words.filter(capital).collect()
}

/// The properties of a route that determine its common error codes.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent property of the route"
)]
pub struct RouteProperties {
    /// Who may call the route.
    pub access: Access,
    /// Whether the route is mutating (not a GET).
    pub changes: bool,
    /// Whether the route creates an object and accepts an `Idempotency-Key`.
    pub creates: bool,
    /// Whether the route reads a JSON body.
    pub json: bool,
    /// Whether the route reads a form with files.
    pub form: bool,
    /// Whether the route is below `/auth` and has the library's error format.
    pub auth: bool,
}

/// The codes that every route with these properties can return, by status.
pub fn common_codes(route: RouteProperties) -> Vec<(u16, &'static str)> {
    let mut codes = vec![
        (429, "RATE_LIMITED"),
        (500, "INTERNAL_ERROR"),
        (503, "OVERLOADED"),
        (503, "NOT_READY"),
    ];
    let mut add = |applies: bool, more: &[(u16, &'static str)]| {
        if applies {
            codes.extend_from_slice(more);
        }
    };
    let RouteProperties { access, .. } = route;
    let person = !matches!(access, Access::Anyone | Access::DocumentServer);
    let origin = [(403, "INVALID_ORIGIN"), (403, "MISSING_OR_NULL_ORIGIN")];
    add(route.changes && access != Access::DocumentServer, &origin);
    // Also for `dryRun` on a route that does not support it.
    add(true, &[(400, "VALIDATION_ERROR")]);
    add(route.creates, &[(409, "IDEMPOTENCY_KEY_REUSED")]);
    add(
        route.json,
        &[
            (400, "INVALID_JSON"),
            (413, "PAYLOAD_TOO_LARGE"),
            (415, "UNSUPPORTED_MEDIA_TYPE"),
        ],
    );
    add(
        route.form,
        &[
            (413, "PAYLOAD_TOO_LARGE"),
            (415, "UNSUPPORTED_MEDIA_TYPE"),
            (415, "UNSUPPORTED_FILE_TYPE"),
            (415, "LEGACY_FILE_FORMAT"),
            (415, "UNREADABLE_FILE"),
            (507, "QUOTA_EXCEEDED"),
            (507, "DISK_FULL"),
        ],
    );
    let unauthenticated = if route.auth { "UNAUTHORIZED" } else { "UNAUTHENTICATED" };
    add(person, &[(401, unauthenticated)]);
    add(person && !route.auth, &[(404, "NOT_FOUND")]);
    add(
        access == Access::DocumentServer,
        &[
            (401, "DOCSERVER_TOKEN_MISSING"),
            (401, "DOCSERVER_TOKEN_INVALID"),
            (403, "DOCSERVER_TOKEN_MISMATCH"),
        ],
    );
    add(
        access.needs_organization(),
        &[
            (400, "NO_ACTIVE_ORGANIZATION"),
            (403, "NOT_A_MEMBER"),
            (403, "PASSWORD_NOT_CONFIRMED"),
            (403, "ORGANIZATION_SUSPENDED"),
            (409, "ORGANIZATION_CHANGED"),
        ],
    );
    let by_role = matches!(
        access,
        Access::Student | Access::Staff | Access::Admin | Access::SuperAdmin
    );
    add(by_role, &[(403, "FORBIDDEN_ROLE")]);
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_codes_are_found_in_description() {
        let text = "HAS_SUBMISSION, CLASS_ARCHIVED when the JSON of a CSV is PDF; DUPLICATE_EMAIL";
        assert_eq!(codes_in(text), ["HAS_SUBMISSION", "CLASS_ARCHIVED", "DUPLICATE_EMAIL"]);
    }

    #[test]
    fn library_error_codes_have_library_messages() {
        assert_eq!(
            meaning("INVALID_EMAIL_OR_PASSWORD").as_deref(),
            Some("Invalid email or password.")
        );
        assert_eq!(meaning("NO_SUCH_CODE"), None);
    }

    #[test]
    fn error_codes_are_unique_and_have_descriptions() {
        assert!(CODES.iter().all(|(_, meaning)| meaning.ends_with('.')));
        let mut seen = std::collections::HashSet::new();
        assert!(CODES.iter().all(|(code, _)| seen.insert(code)), "a code stands twice");
    }
}
