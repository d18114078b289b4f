//! Validates the configuration that a page passes to the editor. Its token alone decides what is opened and how.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::token::{RequestSigner, TokenClaims, TokenError};

/// A user as named by the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfiguredUser {
    /// Opaque and stable; returned in `users`, `actions` and `history`.
    pub id: String,
    /// The name shown to other users.
    pub name: String,
}

/// Why an editor does not open: the error code of the protocol and a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditorError {
    /// 4004 for denied access, negative for document errors.
    pub code: i64,
    /// One sentence for the page.
    pub message: String,
}

impl EditorError {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    pub(crate) fn access(message: &str) -> Self {
        Self::new(4004, format!("access deny: {message}"))
    }
}

/// A validated configuration.
#[derive(Clone, Debug)]
pub(crate) struct EditorConfig {
    pub(crate) key: String,
    pub(crate) url: String,
    pub(crate) file_type: String,
    pub(crate) title: String,
    pub(crate) edit: bool,
    pub(crate) callback_url: Option<String>,
    pub(crate) user: ConfiguredUser,
}

/// Returns whether a key has only allowed characters. Any other key ends the connection with 4004.
pub(crate) fn is_valid_key(key: &str) -> bool {
    !key.is_empty()
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._=".contains(&byte))
}

/// Validates the configuration of a page like the real server.
pub(crate) fn parse(page: &Value, tokens: &RequestSigner) -> Result<EditorConfig, EditorError> {
    let token = page.get("token").and_then(Value::as_str).unwrap_or("");
    let claims = tokens.verify(token).map_err(|error| match error {
        TokenError::Missing => EditorError::access("the configuration has no token"),
        TokenError::Invalid => EditorError::access("the token of the configuration is not valid"),
        TokenError::Expired => EditorError::new(-20, "connect_error: the token of the configuration expired"),
    })?;
    // Tokens of other requests carry one of these claims at top level and must not open an editor.
    if ["url", "payload", "key"].iter().any(|name| claims.contains_key(*name)) {
        return Err(EditorError::access("this token is not one for an editor"));
    }
    let signed = Value::Object(claims);
    check_required_claims(page, &signed)?;
    let text = |pointer: &str| {
        let from = |side: &Value| side.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        from(&signed).or_else(|| from(page))
    };
    let key = text("/document/key").unwrap_or_default();
    if !is_valid_key(&key) || key.len() > 255 {
        return Err(EditorError::access("document.key has characters that are not allowed"));
    }
    let is_view_requested = pointer_is(page, "/editorConfig/mode", "view");
    let edit = !is_view_requested
        && !pointer_is(&signed, "/editorConfig/mode", "view")
        && can_edit(signed.pointer("/document/permissions"));
    let user_id = text("/editorConfig/user/id").unwrap_or_else(|| format!("uid-{:016x}", rand::random::<u64>()));
    Ok(EditorConfig {
        key,
        url: text("/document/url").unwrap_or_default(),
        file_type: text("/document/fileType").unwrap_or_default(),
        title: text("/document/title").unwrap_or_else(|| "document".into()),
        edit,
        callback_url: text("/editorConfig/callbackUrl").filter(|url| !url.is_empty()),
        user: ConfiguredUser {
            name: text("/editorConfig/user/name").unwrap_or_else(|| "Anonymous".into()),
            id: user_id,
        },
    })
}

/// Checks that the token covers all relevant values of the page, with the same permissions.
fn check_required_claims(page: &Value, signed: &Value) -> Result<(), EditorError> {
    let missing = |pointer: &str| signed.pointer(pointer).is_none();
    let is_set = |pointer: &str| page.pointer(pointer).is_some_and(|value| !value.is_null());
    for always in ["/document/key", "/document/url"] {
        if missing(always) {
            return Err(EditorError::access(&format!("the token lacks {always}")));
        }
    }
    for if_set in [
        "/document/permissions",
        "/editorConfig/callbackUrl",
        "/editorConfig/mode",
    ] {
        let harmless = if_set.ends_with("mode") && pointer_is(page, if_set, "view");
        if is_set(if_set) && missing(if_set) && !harmless {
            return Err(EditorError::access(&format!("the token lacks {if_set}")));
        }
    }
    let permissions = "/document/permissions";
    if is_set(permissions) && page.pointer(permissions) != signed.pointer(permissions) {
        return Err(EditorError::access(
            "the permissions of the page are not those of the token",
        ));
    }
    Ok(())
}

fn pointer_is(value: &Value, pointer: &str, wanted: &str) -> bool {
    value.pointer(pointer).and_then(Value::as_str) == Some(wanted)
}

/// `edit` defaults to true and the three narrower permissions default to `edit`; any of them makes an editor.
fn can_edit(permissions: Option<&Value>) -> bool {
    let none = TokenClaims::new();
    let rights = permissions.and_then(Value::as_object).unwrap_or(&none);
    let right = |name: &str| rights.get(name).and_then(Value::as_bool);
    let edit = right("edit").unwrap_or(true);
    edit || ["review", "comment", "fillForms"]
        .iter()
        .any(|name| right(name).unwrap_or(edit))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;
    use serde_json::json;

    fn tokens() -> RequestSigner {
        RequestSigner::new("one secret of enough length for all")
    }

    fn config(permissions: &Value) -> Value {
        json!({
            "documentType": "word",
            "document": {"key": "d-1", "url": "http://a/file", "fileType": "docx", "title": "T", "permissions": permissions},
            "editorConfig": {"mode": "edit", "callbackUrl": "http://a/callback", "user": {"id": "u1", "name": "Ben"}},
        })
    }

    fn signed(mut config: Value) -> Value {
        let token = tokens().sign(config.as_object().unwrap().clone());
        config["token"] = json!(token);
        config
    }

    #[test]
    fn signed_configuration_opens_for_editing() {
        let config = parse(&signed(config(&json!({"edit": true}))), &tokens()).unwrap();
        assert!(config.edit);
        assert_eq!(config.user.id, "u1");
        assert_eq!(config.callback_url.as_deref(), Some("http://a/callback"));
    }

    #[test]
    fn page_may_reduce_but_not_extend_permissions() {
        let mut page = signed(config(&json!({"edit": true})));
        page["editorConfig"]["mode"] = json!("view");
        assert!(!parse(&page, &tokens()).unwrap().edit);
        let mut page = signed(config(&json!({"edit": false})));
        page["document"]["permissions"] = json!({"edit": true});
        assert_eq!(parse(&page, &tokens()).unwrap_err().code, 4004);
    }

    #[test]
    fn narrower_permissions_allow_editing() {
        assert!(!can_edit(Some(&json!({"edit": false}))));
        assert!(can_edit(Some(&json!({"edit": false, "comment": true}))));
        assert!(can_edit(None));
    }

    #[test]
    fn tokens_of_other_requests_and_invalid_keys_are_rejected() {
        let mut page = config(&json!({}));
        page["token"] = json!(tokens().sign_download("http://a/file"));
        assert_eq!(parse(&page, &tokens()).unwrap_err().code, 4004);
        assert_eq!(parse(&config(&json!({})), &tokens()).unwrap_err().code, 4004);
        let mut page = config(&json!({}));
        page["document"]["key"] = json!("a/b");
        assert_eq!(parse(&signed(page), &tokens()).unwrap_err().code, 4004);
    }
}
