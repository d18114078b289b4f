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
fn frontend_url_is_exactly_one_origin() {
    for (text, origin) in [
        ("https://School.Example", "https://school.example"),
        ("https://school.example:443/", "https://school.example"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:3000", "http://[::1]:3000"),
        ("https://schüle.example", "https://xn--schle-mva.example"),
    ] {
        assert_eq!(only_origin(text).as_deref(), Some(origin), "{text}");
        assert!(
            better_auth::trusted_origin::TrustedOrigin::of(origin).is_some(),
            "{origin}"
        );
    }
    for text in [
        "https://a.example,https://b.example",
        "https://a.example, https://b.example",
        "https://a.example,b.example",
        "https://*.school.example",
        "*",
        "https://school.example:99999",
        "https://school.example:0",
        "https://school.example:http",
        "https://school.example/app",
        "https://school.example/?",
        "https://school.example#",
        "https://user:password@school.example",
        "https://",
        "https:school.example",
        "https:\\\\school.example",
        "https://school.exa mple",
        "ftp://school.example",
        "school.example",
        "null",
    ] {
        assert_eq!(only_origin(text), None, "{text}");
    }
}

#[test]
fn other_addresses_may_have_a_path_and_name_one_host() {
    assert_eq!(
        base_address("https://docs.example/office/").as_deref(),
        Some("https://docs.example/office")
    );
    for text in [
        "https://a.example,b.example",
        "https://*.example",
        "https://docs.example/?a=b",
        "docs.example",
    ] {
        assert_eq!(base_address(text), None, "{text}");
    }
    assert_eq!(base_domain(".Schools.Example.").as_deref(), Some("schools.example"));
    for text in [
        "*.schools.example",
        "https://schools.example",
        "schools.example:80",
        "a..b",
        ".",
    ] {
        assert_eq!(base_domain(text), None, "{text}");
    }
}

#[test]
fn setting_with_a_bad_address_is_rejected_by_name() {
    const BAD: &str = "https://a.example,https://*.example";
    let args = |change: fn(&mut ServeArgs)| {
        let mut args = ServeArgs {
            frontend_url: Some("https://school.example".to_owned()),
            auth_secret: Some("auth-secret-for-tests-0123456789abcdef".into()),
            docserver_jwt_secret: Some("docserver-secret-for-tests-0123456789ab".into()),
            ..ServeArgs::default()
        };
        change(&mut args);
        Config::check(args, StorageArgs::default())
            .map(drop)
            .map_err(|refused| refused.0)
    };
    assert_eq!(args(|_| {}), Ok(()));
    let rejects = |name: &str, change: fn(&mut ServeArgs)| {
        let refused = args(change).err().unwrap_or_default();
        assert!(
            refused.starts_with(&format!("Refused configuration: {name} must be ")),
            "{refused}"
        );
    };
    rejects("FRONTEND_URL", |args| args.frontend_url = Some(BAD.to_owned()));
    rejects("DOCSERVER_URL", |args| args.docserver_url = Some(BAD.to_owned()));
    rejects("DOCSERVER_INTERNAL_URL", |args| {
        args.docserver_internal_url = Some(BAD.to_owned());
    });
    rejects("API_INTERNAL_URL", |args| args.api_internal_url = Some(BAD.to_owned()));
    rejects("BASE_DOMAIN", |args| args.base_domain = Some(BAD.to_owned()));
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
