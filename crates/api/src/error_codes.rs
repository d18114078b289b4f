//! The error codes of routes in the OpenAPI document. A route names its own codes in `responses(.., description =
//! "CODE, CODE")`; the codes common to all routes of its kind are added here. Each code becomes a documented response.
//! See docs/api-contract.md#error-codes.

use better_auth::error::AuthError;
use domain::access::Access;
use domain::error_code::ErrorCode;

/// The meaning of a code of this service or of the library; `None` for an unknown code.
pub fn meaning(code: &str) -> Option<String> {
    let ours = ErrorCode::parse(code).map(|code| code.meaning().to_owned());
    ours.or_else(|| {
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
    /// Whether the route accepts API tokens.
    pub tokens: bool,
    /// Whether the route is served to a user who is required to have a second factor and has none.
    pub is_served_without_factor: bool,
}

/// The codes that every route with these properties can return, by status.
pub fn common_codes(route: RouteProperties) -> Vec<(u16, &'static str)> {
    let mut codes = vec![
        ErrorCode::RateLimited,
        ErrorCode::InternalError,
        ErrorCode::Overloaded,
        ErrorCode::NotReady,
    ];
    let mut add = |applies: bool, more: &[ErrorCode]| {
        if applies {
            codes.extend_from_slice(more);
        }
    };
    let RouteProperties { access, .. } = route;
    let person = !matches!(access, Access::Anyone | Access::DocumentServer);
    let origin = [ErrorCode::InvalidOrigin, ErrorCode::MissingOrNullOrigin];
    add(route.changes && access != Access::DocumentServer, &origin);
    // Also for `dryRun` on a route that does not support it.
    add(true, &[ErrorCode::ValidationError]);
    add(
        route.changes && access != Access::DocumentServer,
        &[ErrorCode::Maintenance],
    );
    add(!route.is_served_without_factor, &[ErrorCode::SecondFactorRequired]);
    add(route.creates, &[ErrorCode::IdempotencyKeyReused]);
    add(
        route.json,
        &[
            ErrorCode::InvalidJson,
            ErrorCode::PayloadTooLarge,
            ErrorCode::UnsupportedMediaType,
        ],
    );
    add(
        route.form,
        &[
            ErrorCode::PayloadTooLarge,
            ErrorCode::UnsupportedMediaType,
            ErrorCode::UnsupportedFileType,
            ErrorCode::LegacyFileFormat,
            ErrorCode::UnreadableFile,
            ErrorCode::QuotaExceeded,
            ErrorCode::DiskFull,
        ],
    );
    add(person && !route.auth, &[ErrorCode::Unauthenticated]);
    add(person && !route.auth, &[ErrorCode::NotFound]);
    add(
        access == Access::DocumentServer,
        &[
            ErrorCode::DocserverTokenMissing,
            ErrorCode::DocserverTokenInvalid,
            ErrorCode::DocserverTokenMismatch,
        ],
    );
    add(
        access.needs_organization(),
        &[
            ErrorCode::NoActiveOrganization,
            ErrorCode::NotAMember,
            ErrorCode::PasswordNotConfirmed,
            ErrorCode::SignedOnElsewhere,
            ErrorCode::OrganizationSuspended,
            ErrorCode::OrganizationChanged,
        ],
    );
    let by_role = matches!(
        access,
        Access::Student | Access::Staff | Access::Admin | Access::SuperAdmin
    );
    add(by_role, &[ErrorCode::ForbiddenRole]);
    add(route.tokens, &[ErrorCode::TokenScopeMissing]);
    let mut codes: Vec<_> = codes.iter().map(|code| (code.status(), code.as_str())).collect();
    if person && route.auth {
        codes.push((401, "UNAUTHORIZED"));
    }
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
}
