//! The error codes of the API: code, HTTP status, who causes it, and meaning, in one table. `documentation.rs` compares it
//! with the contract, with the responses of the OpenAPI document and with the translations of the web client. The message
//! of an error is written where the error is defined, because it may contain details.

/// Who causes an error with a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CausedBy {
    /// A user of the web client, which translates the code.
    User,
    /// Only a program: the web client sends no such request, or handles the response itself.
    Program,
}

macro_rules! error_codes {
    ($($code:ident = $name:literal, $status:literal, $caused_by:ident, $meaning:literal;)+) => {
        /// A stable error code of the API.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $(#[doc = $meaning] $code,)+
        }

        impl ErrorCode {
            /// Every code, by name.
            pub const ALL: &'static [Self] = &[$(Self::$code),+];

            /// Returns the code as responses contain it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$code => $name),+ }
            }

            /// Returns the HTTP status of responses with this code.
            pub const fn status(self) -> u16 {
                match self { $(Self::$code => $status),+ }
            }

            pub const fn caused_by(self) -> CausedBy {
                match self { $(Self::$code => CausedBy::$caused_by),+ }
            }

            /// Returns the meaning of the code, a sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$code => $meaning),+ }
            }

            /// Returns the code with this name.
            pub fn parse(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$code),)+ _ => None }
            }
        }
    };
}

error_codes! {
    AlreadyInvited = "ALREADY_INVITED", 409, User, "A concurrent request invited the address.";
    AlreadyRestored = "ALREADY_RESTORED", 409, User, "The deleted object was restored before.";
    AlreadySubmitted = "ALREADY_SUBMITTED", 409, User, "The document is already submitted.";
    ArchiveDamaged = "ARCHIVE_DAMAGED", 409, User, "The stored data of the deleted object is damaged; nothing was restored.";
    AssignmentFinished = "ASSIGNMENT_FINISHED", 409, User, "The topic is finished; a teacher can reopen it.";
    AssignmentIdRequired = "ASSIGNMENT_ID_REQUIRED", 400, Program, "The body does not name the topic.";
    AssignmentNotFinished = "ASSIGNMENT_NOT_FINISHED", 409, User, "The PDF is available once the topic is finished.";
    AssignmentNotPublished = "ASSIGNMENT_NOT_PUBLISHED", 409, User, "The topic is not published for the group.";
    AssignmentStarted = "ASSIGNMENT_STARTED", 409, User, "A group has started, so the topic stays published.";
    BadRequest = "BAD_REQUEST", 400, Program, "The request is invalid; the message names the reason.";
    ClassArchived = "CLASS_ARCHIVED", 409, User, "The class is archived and read-only.";
    ClassFollowsHomeroom = "CLASS_FOLLOWS_HOMEROOM", 409, User, "The class follows its homeroom, and the student is in it.";
    ClassMismatch = "CLASS_MISMATCH", 409, User, "Class, course, group, topic and subject do not belong together.";
    ClassNotEmpty = "CLASS_NOT_EMPTY", 409, User, "The class still has courses, groups or topics.";
    CourseArchived = "COURSE_ARCHIVED", 409, User, "The course is archived and accepts nothing new.";
    CourseMismatch = "COURSE_MISMATCH", 409, User, "Groups and topic are in different courses; details names the groups.";
    DiskFull = "DISK_FULL", 507, User, "The disk of the service is nearly full; the operator must free space.";
    DocserverError = "DOCSERVER_ERROR", 502, User, "The document server failed; details contains the cause that it reported.";
    DocserverTimeout = "DOCSERVER_TIMEOUT", 504, User, "The document server did not respond in time.";
    DocserverTokenInvalid = "DOCSERVER_TOKEN_INVALID", 401, Program, "The document-server token is forged or expired.";
    DocserverTokenMismatch = "DOCSERVER_TOKEN_MISMATCH", 403, Program, "The document-server token is for another document.";
    DocserverTokenMissing = "DOCSERVER_TOKEN_MISSING", 401, Program, "There is no document-server token.";
    DocumentLocked = "DOCUMENT_LOCKED", 423, User, "The document is locked because its topic is finished, for every role.";
    DomainHeld = "DOMAIN_HELD", 409, User, "Another organization has verified the mail domain; a SUPER_ADMIN can assign it to both.";
    DomainNotProven = "DOMAIN_NOT_PROVEN", 409, User, "The TXT record that proves the mail domain was not found.";
    DomainUnanswered = "DOMAIN_UNANSWERED", 409, User, "The name servers of the mail domain did not respond.";
    DuplicateCourse = "DUPLICATE_COURSE", 409, User, "The class already has a course of this name.";
    DuplicateDomain = "DUPLICATE_DOMAIN", 409, User, "Another organization has this domain.";
    DuplicateEmail = "DUPLICATE_EMAIL", 409, User, "A member of the organization has this address.";
    DuplicateExternalId = "DUPLICATE_EXTERNAL_ID", 409, User, "Another object of the organization has this external id.";
    DuplicateGroupAssignment = "DUPLICATE_GROUP_ASSIGNMENT", 409, User, "The group already works on the topic, with another text.";
    DuplicateGroupNumber = "DUPLICATE_GROUP_NUMBER", 409, User, "The class already has a group with this number.";
    DuplicateHomeroom = "DUPLICATE_HOMEROOM", 409, User, "A homeroom of this name exists in this school year.";
    DuplicateIdentity = "DUPLICATE_IDENTITY", 409, User, "The identity at the sign-on provider, or the person, is already linked.";
    DuplicateMailDomain = "DUPLICATE_MAIL_DOMAIN", 409, User, "The organization has already added this mail domain.";
    DuplicateSlug = "DUPLICATE_SLUG", 409, User, "Another organization has this short name.";
    DuplicateSubject = "DUPLICATE_SUBJECT", 409, User, "A subject of this name exists, regardless of case.";
    DuplicateUsername = "DUPLICATE_USERNAME", 409, User, "Another account of the organization has this user name.";
    EditorNotAvailable = "EDITOR_NOT_AVAILABLE", 409, Program, "The built-in editor does not open documents of this kind.";
    EditTimeOver = "EDIT_TIME_OVER", 403, User, "Messages can be changed for 15 minutes only.";
    EmailRequired = "EMAIL_REQUIRED", 409, User, "The account needs an email address, or for students and teachers a user name.";
    FieldNotAllowed = "FIELD_NOT_ALLOWED", 400, Program, "The body sets a field that this route does not write.";
    Forbidden = "FORBIDDEN", 403, Program, "Not allowed for this caller; the message names the reason.";
    ForbiddenRank = "FORBIDDEN_RANK", 403, User, "Only a user of a higher rank may do this.";
    ForbiddenRole = "FORBIDDEN_ROLE", 403, User, "Not allowed for the caller's role.";
    GradePublished = "GRADE_PUBLISHED", 409, User, "The grade is already published.";
    GroupNotOnAssignment = "GROUP_NOT_ON_ASSIGNMENT", 409, User, "The group does not work on this topic.";
    HasSubmission = "HAS_SUBMISSION", 409, User, "The group has submitted work for this topic.";
    HeadersTooLarge = "HEADERS_TOO_LARGE", 431, Program, "The head of the request is larger than 16 KiB.";
    IdempotencyKeyReused = "IDEMPOTENCY_KEY_REUSED", 409, Program, "The Idempotency-Key was used for another request of the same user within 24 hours.";
    ImportHeader = "IMPORT_HEADER", 400, User, "The file lacks a column that is required.";
    InternalError = "INTERNAL_ERROR", 500, User, "An error of the service; the log contains the cause under the request id.";
    InvalidHost = "INVALID_HOST", 400, Program, "The request has no Host, several, or an invalid one.";
    InvalidJson = "INVALID_JSON", 400, Program, "The body is not JSON.";
    InvalidOrigin = "INVALID_ORIGIN", 403, Program, "The request comes from a page of another origin.";
    LastOwner = "LAST_OWNER", 409, User, "The organization would lose its last owner.";
    LateNotAllowed = "LATE_NOT_ALLOWED", 409, User, "The deadline has passed and the topic accepts no late work.";
    LegacyFileFormat = "LEGACY_FILE_FORMAT", 415, User, "A .doc, .rtf, .xls or .ppt file, which is not converted here; details names the format.";
    LimitReached = "LIMIT_REACHED", 409, User, "The maximum number is reached.";
    Maintenance = "MAINTENANCE", 503, User, "The installation is being maintained: it can be read, but not changed; Retry-After is the time until the next attempt.";
    MethodNotAllowed = "METHOD_NOT_ALLOWED", 405, Program, "The path does not support this method.";
    MissingOrNullOrigin = "MISSING_OR_NULL_ORIGIN", 403, Program, "The request does not name the origin of its page.";
    NameSetBySchool = "NAME_SET_BY_SCHOOL", 403, User, "Only the staff of the school can change names of students.";
    NothingToExport = "NOTHING_TO_EXPORT", 409, User, "There is no document to export.";
    NotAuthor = "NOT_AUTHOR", 403, User, "Only the author may change this.";
    NotAMember = "NOT_A_MEMBER", 403, User, "The caller does not belong to the organization of the request.";
    NotClassTeacher = "NOT_CLASS_TEACHER", 403, User, "Only the teachers of the class and admins may do this.";
    NotFound = "NOT_FOUND", 404, User, "Unknown, of another organization, or invisible to the caller: always the same response.";
    NotReady = "NOT_READY", 503, User, "A dependency of the service is unavailable; Retry-After is the time until the next attempt.";
    NotSubmitted = "NOT_SUBMITTED", 409, User, "The document is not submitted.";
    NoActiveOrganization = "NO_ACTIVE_ORGANIZATION", 400, Program, "Neither the session nor the Host names an organization.";
    NoMailbox = "NO_MAILBOX", 409, User, "No email reaches this address, so it cannot be invited.";
    OrganizationChanged = "ORGANIZATION_CHANGED", 409, User, "X-Organization-Id does not name the active organization of the caller; nothing was done.";
    OrganizationSuspended = "ORGANIZATION_SUSPENDED", 403, User, "The organization is suspended.";
    Overloaded = "OVERLOADED", 503, User, "The service is overloaded; Retry-After is the time until the next attempt.";
    ParentMissing = "PARENT_MISSING", 409, User, "What the deleted object belongs to is deleted, too; `details` names it.";
    PasswordsOff = "PASSWORDS_OFF", 403, User, "The school requires its sign-on provider; only its owners sign in with a password.";
    PasswordNotConfirmed = "PASSWORD_NOT_CONFIRMED", 403, User, "An administrator of another organization chose the password; a reset by email is required first.";
    PayloadTooLarge = "PAYLOAD_TOO_LARGE", 413, User, "Body or file is larger than allowed.";
    PlaybackDisabled = "PLAYBACK_DISABLED", 409, User, "The organization has not enabled the playback of documents.";
    PreconditionFailed = "PRECONDITION_FAILED", 412, Program, "The version of the object differs from If-Match; `current` is the present object, ETag its version.";
    QuotaExceeded = "QUOTA_EXCEEDED", 507, User, "The storage of the organization is used up.";
    RangeNotSatisfiable = "RANGE_NOT_SATISFIABLE", 416, Program, "The requested range is outside of the file.";
    RateLimited = "RATE_LIMITED", 429, User, "Too many requests; Retry-After is the time until the next attempt.";
    RequestTimeout = "REQUEST_TIMEOUT", 408, Program, "The body stopped arriving.";
    RosterFailed = "ROSTER_FAILED", 409, User, "The roster server could not be read or is set up incorrectly; details contains the reason.";
    RosterRunChanged = "ROSTER_RUN_CHANGED", 409, User, "The run of the roster does not wait for this confirmation any more.";
    RosterRunOpen = "ROSTER_RUN_OPEN", 409, User, "The roster is being read already.";
    RubricIncomplete = "RUBRIC_INCOMPLETE", 409, User, "The rubric of the grade is filled in only in part.";
    RubricInUse = "RUBRIC_IN_USE", 409, User, "A grade uses the rubric of the topic.";
    SecondFactorRequired = "SECOND_FACTOR_REQUIRED", 403, Program, "The user is required to have a second factor and has to set one up first.";
    SharedAccount = "SHARED_ACCOUNT", 403, User, "The account does not belong to this organization alone.";
    SignedOnElsewhere = "SIGNED_ON_ELSEWHERE", 403, User, "The session was opened through the sign-on of another organization and is valid there only.";
    SignOnFailed = "SIGN_ON_FAILED", 409, User, "The sign-on provider could not be reached or is set up incorrectly; details contains the reason.";
    StudentNotEnrolled = "STUDENT_NOT_ENROLLED", 409, User, "A user in the request is not a student of the class; details names the user.";
    SubjectInUse = "SUBJECT_IN_USE", 409, User, "Courses or groups use the subject.";
    TokenScopeMissing = "TOKEN_SCOPE_MISSING", 403, Program, "The API token does not have the scope of this route.";
    Unauthenticated = "UNAUTHENTICATED", 401, Program, "No session, or an expired one.";
    UnreadableFile = "UNREADABLE_FILE", 415, User, "The file is damaged or protected with a password; details contains the reason.";
    UnsupportedFileType = "UNSUPPORTED_FILE_TYPE", 415, User, "Files of this type are not accepted.";
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE", 415, Program, "The route does not accept the media type of the body.";
    UriTooLong = "URI_TOO_LONG", 414, Program, "The address of the request is longer than 8 KiB.";
    ValidationError = "VALIDATION_ERROR", 400, Program, "The request is invalid; details names each field.";
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_have_a_sentence() {
        assert!(ErrorCode::ALL.is_sorted_by_key(|code| code.as_str()));
        assert!(ErrorCode::ALL.iter().all(|code| code.meaning().ends_with('.')));
    }
}
