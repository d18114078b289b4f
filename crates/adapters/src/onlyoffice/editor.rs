//! The configuration that a page passes to the editor. It is built from server data only, never from browser input,
//! and the token contains all of its values.

use domain::document::{Document, EditorMode};
use domain::document_kind::{DocumentType, EditorKind, FileExtension};
use domain::id::UserId;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{DocumentServer, FileVersion};
use common::error::{Error, Result};

/// What a page needs to open an editor: the configuration for `DocsAPI.DocEditor` and the location of its script.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Editor {
    /// The editor in which the document opens.
    #[serde(rename = "editor")]
    kind: EditorKind,
    /// The URL of the document server for browsers; null if none is configured, and for the built-in editor.
    #[schema(required)]
    document_server_url: Option<String>,
    #[serde(flatten)]
    configuration: Configuration,
    /// The signed configuration as a JWT. It expires after ten minutes.
    token: String,
}

/// The configuration for `DocsAPI.DocEditor`.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EditorConfiguration)]
pub struct Configuration {
    document_type: DocumentType,
    document: EditedDocument,
    editor_config: Settings,
}

/// The document to open.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditedDocument {
    file_type: FileExtension,
    /// The document key, the same for all users of an editing session.
    key: String,
    title: String,
    /// The URL from which the document server downloads the document.
    url: String,
    permissions: Permissions,
}

/// What the user may do in the editor.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "fields of the document server's protocol")]
#[schema(as = EditorPermissions)]
pub struct Permissions {
    edit: bool,
    review: bool,
    comment: bool,
    fill_forms: bool,
    download: bool,
    print: bool,
    copy: bool,
    /// Always false: the work room has its own chat.
    chat: bool,
}

/// The settings of the editor.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EditorSettings)]
pub struct Settings {
    mode: EditorMode,
    lang: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    callback_url: Option<String>,
    user: EditingUser,
    customization: Customization,
}

/// The user as shown to others in the session, without email address or user name.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EditingUser {
    id: UserId,
    name: String,
}

/// The user interface of the editor.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[expect(clippy::struct_excessive_bools, reason = "fields of the document server's protocol")]
#[schema(as = EditorCustomization)]
pub struct Customization {
    autosave: bool,
    forcesave: bool,
    /// Always false: macros in documents are never executed.
    macros: bool,
    plugins: bool,
    feedback: bool,
    features: EditorFeatures,
}

/// Optional parts of the editor's user interface.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditorFeatures {
    /// Pop-ups that announce new features.
    features_tips: bool,
}

/// A user who opens an editor.
#[derive(Debug, Clone)]
pub struct EditorUser {
    pub id: UserId,
    /// The name shown to other users.
    pub name: String,
    /// The locale, for example `de` or `de-CH`.
    pub locale: String,
}

/// The maximum length of names and titles that the document server accepts.
const NAME_MAX: usize = 128;

impl DocumentServer {
    /// Builds the editor configuration of a document for a user, in the mode that the access rules allow.
    pub fn editor(&self, document: &Document, mode: EditorMode, user: EditorUser) -> Result<Editor> {
        let can_edit = mode == EditorMode::Edit;
        let title = format!("{}.{}", document.title.as_str(), document.file_extension.as_str());
        let (lang, region) = language(&user.locale);
        let configuration = Configuration {
            document_type: document.document_type,
            document: EditedDocument {
                file_type: document.file_extension,
                key: self.key(&document.key()),
                title: title.chars().take(NAME_MAX).collect(),
                url: self.file_url(&document.id, &FileVersion::Current),
                permissions: Permissions {
                    edit: can_edit,
                    review: can_edit,
                    comment: can_edit,
                    fill_forms: can_edit,
                    download: true,
                    print: true,
                    copy: true,
                    chat: false,
                },
            },
            editor_config: Settings {
                mode,
                lang,
                region,
                callback_url: can_edit.then(|| self.callback_url(&document.id)),
                user: EditingUser {
                    id: user.id,
                    name: user.name.chars().take(NAME_MAX).collect(),
                },
                customization: Customization {
                    autosave: true,
                    forcesave: true,
                    macros: false,
                    plugins: false,
                    feedback: false,
                    features: EditorFeatures { features_tips: false },
                },
            },
        };
        let Value::Object(claims) = serde_json::to_value(&configuration)? else {
            return Err(Error::Internal(anyhow::anyhow!("a configuration is an object")));
        };
        let editor = self.editor_kind(document);
        Ok(Editor {
            kind: editor,
            document_server_url: self.0.public_url.clone().filter(|_| editor == EditorKind::OnlyOffice),
            token: self.sign_editor(claims)?,
            configuration,
        })
    }
}

/// Splits a locale into language and region: `de-CH` is German in Switzerland.
fn language(locale: &str) -> (String, Option<String>) {
    let locale = locale.replace('_', "-");
    match locale.split_once('-') {
        Some((language, _)) => (language.to_owned(), Some(locale)),
        None if locale.is_empty() => ("en".to_owned(), None),
        None => (locale, None),
    }
}
