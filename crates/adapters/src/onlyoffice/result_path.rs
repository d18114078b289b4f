//! The location of a result without its host. The host in a callback depends on the browser that was editing and
//! cannot be trusted, so only path and query are kept, and only below the result folder.

use reqwest::Url;

use super::DocumentServer;

/// Path and query of a result file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultPath {
    path: String,
    query: Option<String>,
}

impl ResultPath {
    /// Returns the path without the query. It is the same for repeated callbacks; the query contains an expiry.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the URL of the result on the configured document server.
    pub(super) fn resolve(&self, internal: &Url) -> Url {
        let mut url = internal.clone();
        let folder = internal.path().trim_end_matches('/');
        url.set_path(&format!("{folder}{}", self.path));
        url.set_query(self.query.as_deref());
        url
    }
}

impl DocumentServer {
    /// Parses the URL of a result; `None` if it is outside the result folder.
    pub fn result_path(&self, claimed: &str) -> Option<ResultPath> {
        let url = Url::parse(claimed).ok()?;
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        // A document server below a path (`https://host/docs`) adds that path as a prefix.
        let public = self.0.public_url.as_deref().and_then(|public| Url::parse(public).ok());
        let folders = [public.as_ref(), self.0.internal_url.as_ref()];
        let mut folders = folders
            .into_iter()
            .flatten()
            .map(|url| url.path().trim_end_matches('/'));
        let path = url.path();
        let inside =
            |path: &str| path.starts_with(&self.0.results_path) && !path.contains("//") && !has_hidden_separator(path);
        let path = std::iter::once(path)
            .chain(folders.by_ref().filter_map(|folder| path.strip_prefix(folder)))
            .find(|path| inside(path))?;
        Some(ResultPath {
            path: path.to_owned(),
            query: url.query().map(str::to_owned),
        })
    }
}

/// Returns whether a path contains encoded separators, which the document server may decode.
fn has_hidden_separator(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    ["%2f", "%5c", "%2e%2e", "\\"]
        .iter()
        .any(|hidden| lower.contains(hidden))
}
