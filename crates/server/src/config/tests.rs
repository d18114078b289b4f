use super::*;

#[test]
fn an_origin_is_scheme_host_and_port() {
    assert_eq!(
        origin_of("https://School.Example:443/path?x").as_deref(),
        Some("https://school.example")
    );
    assert_eq!(
        origin_of("http://localhost:3000").as_deref(),
        Some("http://localhost:3000")
    );
    assert_eq!(origin_of("ftp://x"), None);
    assert_eq!(origin_of("school.example"), None);
}

#[test]
fn repeated_words_are_known_secrets_too() {
    assert!(is_known("secretsecretsecretsecretsecretsecret"));
    assert!(is_known("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
    assert!(!is_known("k3f8s0dk3l2m5n8b1v4c7x0z3q6w9e2r5t8y"));
}

#[test]
fn results_lie_in_a_folder_of_plain_names() {
    for folder in ["/cache/files/", "/results/", "/a.b/c-d/e_f/"] {
        assert!(is_folder(folder), "{folder}");
    }
    let refused = [
        "",
        "/",
        "//",
        "cache/files/",
        "/cache/files",
        "/cache//files/",
        "/../",
        "/a/./b/",
        "/a b/",
        "/%2e%2e/",
        "/a?b/",
    ];
    for folder in refused {
        assert!(!is_folder(folder), "{folder}");
    }
}
