//! Which organization a request of a SUPER_ADMIN is for when his session and the Host name none: the one his query names
//! (`organizationId`), else the one the object in the path belongs to.

use axum::http::Uri;

use crate::store::platform::homes::Home;

/// The nouns whose id may stand in a path, as the path spells them.
const NOUNS: [&str; 9] = [
    "subjects",
    "classes",
    "courses",
    "groups",
    "group",
    "assignments",
    "workrooms",
    "documents",
    "jobs",
];

/// What the request's address says about the organization.
pub fn named(uri: &Uri) -> Option<Home> {
    let query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let asked = query.into_iter().find(|(key, _)| key == "organizationId");
    if let Some((_, organization)) = asked {
        return Some(Home::Organization(organization.into_owned()));
    }
    let parts: Vec<&str> = uri.path().split('/').collect();
    parts.windows(2).find_map(|pair| {
        let noun = NOUNS.iter().find(|noun| **noun == pair[0])?;
        // `/workrooms/documents/{id}` names a document, not a room called "documents".
        (!NOUNS.contains(&pair[1])).then(|| Home::Object(noun, pair[1].to_owned()))
    })
}

/// The address without the `organizationId` that was used up here; handlers refuse keys they do not know.
pub fn without_organization(uri: &Uri) -> Option<Uri> {
    let query = uri.query()?;
    let kept: Vec<&str> = query
        .split('&')
        .filter(|pair| !pair.starts_with("organizationId="))
        .collect();
    let text = if kept.is_empty() {
        uri.path().to_owned()
    } else {
        format!("{}?{}", uri.path(), kept.join("&"))
    };
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(uri: &str) -> Option<Home> {
        named(&uri.parse().expect("a test address"))
    }

    #[test]
    fn the_object_of_a_path_names_its_home() {
        assert_eq!(home("/courses/c1"), Some(Home::Object("courses", "c1".to_owned())));
        assert_eq!(
            home("/workrooms/documents/d1/pdf"),
            Some(Home::Object("documents", "d1".to_owned()))
        );
        assert_eq!(
            home("/workrooms/group/g1"),
            Some(Home::Object("group", "g1".to_owned()))
        );
        assert_eq!(home("/courses"), None);
        assert_eq!(
            home("/courses?organizationId=o1&search=x"),
            Some(Home::Organization("o1".to_owned()))
        );
    }

    #[test]
    fn the_organization_is_taken_out_of_the_query() {
        let uri: Uri = "/courses?search=x&organizationId=o1".parse().expect("a test address");
        assert_eq!(
            without_organization(&uri).map(|uri| uri.to_string()).as_deref(),
            Some("/courses?search=x")
        );
    }
}
