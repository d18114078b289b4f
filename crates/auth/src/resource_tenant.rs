//! Finds the organization of a request by a SUPER_ADMIN whose session and Host name none: `organizationId` in the query
//! or body, else the object in the path, else the parent object in the body. Every route uses this one implementation.
//! See docs/api-contract.md#super_admin-without-an-active-organization.

use axum::http::Uri;
use serde_json::{Map, Value};

use db::platform::resource_tenant::ResourceRef;

/// The field that names an organization directly.
const ORGANIZATION: &str = "organizationId";

/// Body fields that name a parent object, in order of precedence. Several of them must belong to one organization.
const PARENTS: [(&str, &str); 11] = [
    ("classId", "classes"),
    ("courseId", "courses"),
    ("groupId", "groups"),
    ("toGroupId", "groups"),
    ("assignmentId", "assignments"),
    ("workRoomId", "workrooms"),
    ("documentId", "documents"),
    ("submissionId", "submissions"),
    ("groupAssignmentId", "group-assignments"),
    ("homeroomId", "homerooms"),
    ("subjectId", "subjects"),
];

/// Body fields that name several parent objects.
const LISTS: [(&str, &str); 3] = [
    ("groupIds", "groups"),
    ("classIds", "classes"),
    ("subjectIds", "subjects"),
];

/// Finds the resource that query or path name. `route` is the matched route template with its `{parameters}`.
pub fn from_uri(uri: &Uri, route: Option<&str>) -> Option<ResourceRef> {
    let query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let named_organization = query.into_iter().find(|(key, _)| key == ORGANIZATION);
    if let Some((_, organization)) = named_organization {
        return Some(ResourceRef::organization(&organization));
    }
    let below_api = |path: &'_ str| path.strip_prefix("/api").map_or_else(|| path.to_owned(), str::to_owned);
    let (route, path) = (below_api(route?), below_api(uri.path()));
    let parts: Vec<(&str, &str)> = route.split('/').zip(path.split('/')).collect();
    parts.windows(2).find_map(|pair| {
        let ((noun, _), (name, id)) = (pair[0], pair[1]);
        if name.starts_with('{') {
            ResourceRef::object(noun, id)
        } else {
            None
        }
    })
}

/// Whether the decoded path is UTF-8 without NUL. Any other path names no resource.
pub fn is_well_formed(path: &str) -> bool {
    let decoded = percent_encoding::percent_decode_str(path).decode_utf8();
    decoded.is_ok_and(|text| !text.contains('\0'))
}

/// Finds the resource that a body names.
pub fn from_body(body: &Map<String, Value>) -> Option<ResourceRef> {
    let text = |key: &str| body.get(key).and_then(Value::as_str);
    if let Some(organization) = text(ORGANIZATION) {
        return Some(ResourceRef::organization(organization));
    }
    let parent = PARENTS
        .iter()
        .find_map(|(key, noun)| text(key).and_then(|id| ResourceRef::object(noun, id)));
    parent.or_else(|| {
        LISTS.iter().find_map(|(key, noun)| {
            let first = body.get(*key)?.as_array()?.first()?.as_str()?;
            ResourceRef::object(noun, first)
        })
    })
}

/// Removes `organizationId` from a body once it is resolved, because handlers reject unknown fields.
pub fn body_without_organization(mut body: Map<String, Value>) -> Map<String, Value> {
    body.shift_remove(ORGANIZATION);
    body
}

/// Removes `organizationId` from the query once it is resolved. The better-auth routes read it themselves, so their
/// URIs stay unchanged.
pub fn without_organization(uri: &Uri) -> Option<Uri> {
    let below_api = uri.path().strip_prefix("/api").unwrap_or(uri.path());
    if below_api.starts_with("/auth/") {
        return None;
    }
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

    fn resource(uri: &str, route: &str) -> Option<ResourceRef> {
        from_uri(&uri.parse().expect("a test address"), Some(route))
    }

    fn object(noun: &str, id: &str) -> Option<ResourceRef> {
        ResourceRef::object(noun, id)
    }

    #[test]
    fn object_in_path_determines_its_tenant() {
        assert_eq!(resource("/courses/c1", "/api/courses/{id}"), object("courses", "c1"));
        assert_eq!(
            resource("/api/workrooms/documents/d1/pdf", "/api/workrooms/documents/{id}/pdf"),
            object("documents", "d1")
        );
        assert_eq!(
            resource("/workrooms/group/g1", "/api/workrooms/group/{groupId}"),
            object("group", "g1")
        );
        assert_eq!(resource("/courses", "/api/courses"), None);
        assert_eq!(resource("/groups/batch", "/api/groups/batch"), None, "a word is no id");
        assert_eq!(
            resource("/courses?organizationId=o1&search=x", "/api/courses"),
            Some(ResourceRef::Organization("o1".to_owned()))
        );
    }

    #[test]
    fn tenant_in_body_is_parent_object_or_organization_id() {
        let of = |body: Value| from_body(body.as_object().expect("a test body"));
        assert_eq!(
            of(serde_json::json!({"name": "x", "classId": "c1", "courseId": "k1"})),
            object("classes", "c1")
        );
        assert_eq!(
            of(serde_json::json!({"groupIds": ["g1", "g2"]})),
            object("groups", "g1")
        );
        let outright = of(serde_json::json!({"classId": "c1", "organizationId": "o1"}));
        assert_eq!(outright, Some(ResourceRef::Organization("o1".to_owned())));
        assert_eq!(
            of(serde_json::json!({"name": "x", "classId": null, "groupIds": [], "organizationId": 5})),
            None
        );
    }

    #[test]
    fn path_with_nul_or_invalid_text_is_rejected() {
        for path in [
            "/courses/c1",
            "/courses/%F0%9F%99%82",
            "/courses/%2e%2e%2f",
            "/courses/%",
        ] {
            assert!(is_well_formed(path), "{path}");
        }
        for path in ["/courses/%00", "/courses/%ff", "/courses/a%c3"] {
            assert!(!is_well_formed(path), "{path}");
        }
    }

    #[test]
    fn organization_is_removed_from_query() {
        let uri: Uri = "/courses?search=x&organizationId=o1".parse().expect("a test address");
        assert_eq!(
            without_organization(&uri).map(|uri| uri.to_string()).as_deref(),
            Some("/courses?search=x")
        );
        let library: Uri = "/api/auth/organization/list-members?organizationId=o1"
            .parse()
            .expect("a test address");
        assert_eq!(without_organization(&library), None);
    }
}
