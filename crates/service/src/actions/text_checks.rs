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
pub(super) fn text_of(min: usize, max: usize) -> impl FnOnce(&FieldPatch<String>, &()) -> garde::Result {
    move |patch, ()| {
        let Some(text) = patch.value() else { return Ok(()) };
        if !(min..=max).contains(&text.chars().count()) {
            return Err(garde::Error::new(format!("must have {min} to {max} characters")));
        }
        is_plain(text, &())
    }
}

/// Checks the number of a PATCH.
pub(super) fn number_up_to(max: i64) -> impl FnOnce(&FieldPatch<i64>, &()) -> garde::Result {
    move |patch, ()| match patch.value() {
        Some(number) if !(0..=max).contains(number) => Err(garde::Error::new(format!("must be between 0 and {max}"))),
        _ => Ok(()),
    }
}
