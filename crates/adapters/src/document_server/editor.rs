//! The configuration a page hands to the editor (contract 8.1). It is built from what the server knows, never from what
//! the browser says, and every value of it is inside the token.

use model::document::{Document, Mode};
use model::document_kind::{DocumentType, FileExtension};
use model::id::UserId;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{Bytes, DocumentServer};
use common::error::{Error, Result};

/// What a page needs to open an editor: the configuration for `DocsAPI.DocEditor`, and where its script is.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Editor {
    /// The document server as browsers reach it; null when none is configured.
    #[schema(required)]
    document_server_url: Option<String>,
    #[serde(flatten)]
    configuration: Configuration,
    /// The configuration, signed; it lives ten minutes.
    token: String,
}

/// The signed part.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EditorConfiguration)]
pub struct Configuration {
    document_type: DocumentType,
    document: EditedDocument,
    editor_config: Settings,
}

/// The document as the editor knows it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditedDocument {
    file_type: FileExtension,
    /// The same for everybody in one session.
    key: String,
    title: String,
    /// Where the document server fetches it.
    url: String,
    permissions: Permissions,
}

/// What the editor lets its user do.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the document server's own words")]
#[schema(as = EditorPermissions)]
pub struct Permissions {
    edit: bool,
    review: bool,
    comment: bool,
    fill_forms: bool,
    download: bool,
    print: bool,
    copy: bool,
    /// The work room has a chat of its own.
    chat: bool,
}

/// How the editor behaves.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EditorSettings)]
pub struct Settings {
    mode: Mode,
    lang: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    callback_url: Option<String>,
    user: EditingUser,
    customization: Customization,
}

/// Whose editor it is, as the others in the session see it: no address, no login.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EditingUser {
    id: UserId,
    name: String,
}

/// Switches of the editor page.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[expect(clippy::struct_excessive_bools, reason = "the document server's own words")]
#[schema(as = EditorCustomization)]
pub struct Customization {
    autosave: bool,
    forcesave: bool,
    /// Documents of pupils run no programs.
    macros: bool,
    plugins: bool,
    feedback: bool,
    features: EditorFeatures,
}

/// Parts of the editor page that cover the text.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditorFeatures {
    /// Windows that point at new functions.
    features_tips: bool,
}

/// Who opens an editor.
#[derive(Debug, Clone)]
pub struct Reader {
    /// The account.
    pub id: UserId,
    /// The name the others see.
    pub name: String,
    /// His language, such as `de` or `de-CH`.
    pub locale: String,
}

/// The longest name and title the document server takes.
const NAME_MAX: usize = 128;

impl DocumentServer {
    /// The editor of a document for somebody, in the mode the rules gave him.
    pub fn editor(&self, document: &Document, mode: Mode, reader: Reader) -> Result<Editor> {
        let writes = mode == Mode::Edit;
        let title = format!("{}.{}", document.title.as_str(), document.file_extension.as_str());
        let (lang, region) = language(&reader.locale);
        let configuration = Configuration {
            document_type: document.document_type,
            document: EditedDocument {
                file_type: document.file_extension,
                key: self.key(&document.key()),
                title: title.chars().take(NAME_MAX).collect(),
                url: self.file_url(&document.id, &Bytes::Current),
                permissions: Permissions {
                    edit: writes,
                    review: writes,
                    comment: writes,
                    fill_forms: writes,
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
                callback_url: writes.then(|| self.callback_url(&document.id)),
                user: EditingUser {
                    id: reader.id,
                    name: reader.name.chars().take(NAME_MAX).collect(),
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
        Ok(Editor {
            document_server_url: self.0.public_url.clone(),
            token: self.sign_editor(claims)?,
            configuration,
        })
    }
}

/// Language and region of a locale: `de-CH` is German as in Switzerland.
fn language(locale: &str) -> (String, Option<String>) {
    let locale = locale.replace('_', "-");
    match locale.split_once('-') {
        Some((language, _)) => (language.to_owned(), Some(locale)),
        None if locale.is_empty() => ("en".to_owned(), None),
        None => (locale, None),
    }
}
