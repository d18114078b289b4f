//! Checks of texts in requests that are stored as they are, such as client ids and scopes of other servers.

use domain::patch::FieldPatch;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is required by garde")]
pub(super) fn is_plain(text: &str, (): &()) -> garde::Result {
    if text.chars().any(char::is_control) {
        return Err(garde::Error::new("must not contain control characters"));
    }
    Ok(())
}

/// Checks the text of a PATCH: its number of characters, and that none is a control character.
pub(super) fn is_text_of(patch: &FieldPatch<String>, min: usize, max: usize) -> garde::Result {
    let Some(text) = patch.value() else { return Ok(()) };
    if !(min..=max).contains(&text.chars().count()) {
        return Err(garde::Error::new(format!("must have {min} to {max} characters")));
    }
    is_plain(text, &())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is required by garde")]
pub(super) fn is_identifier(patch: &FieldPatch<String>, (): &()) -> garde::Result {
    is_text_of(patch, 1, 500)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is required by garde")]
pub(super) fn is_client_secret(patch: &FieldPatch<String>, (): &()) -> garde::Result {
    is_text_of(patch, 1, 2000)
}
