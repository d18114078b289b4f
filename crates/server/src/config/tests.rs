use super::*;

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
fn secrets_of_a_rotation_are_long_and_different() {
    let refusal = |auth_previous: &str, docserver_previous: &str| {
        let args = ServeArgs {
            frontend_url: Some("https://school.example".to_owned()),
            auth_secret: Some("auth-secret-for-tests-0123456789abcdef".into()),
            auth_secret_previous: Some(auth_previous.into()),
            docserver_jwt_secret: Some("docserver-secret-for-tests-0123456789ab".into()),
            docserver_jwt_secret_previous: Some(docserver_previous.into()),
            ..ServeArgs::default()
        };
        Config::check(args, StorageArgs::default())
            .err()
            .map(|refused| refused.0)
    };
    assert_eq!(refusal("", " "), None, "empty values count as unset");
    let older = "an-older-secret-for-tests-0123456789abcd";
    assert_eq!(refusal(older, ""), None);
    for (auth, docserver, wanted) in [
        ("short", "", "AUTH_SECRET_PREVIOUS must have at least 32 bytes"),
        ("", "short", "DOCSERVER_JWT_SECRET_PREVIOUS must have at least 32 bytes"),
        (
            "auth-secret-for-tests-0123456789abcdef",
            "",
            "AUTH_SECRET and AUTH_SECRET_PREVIOUS must differ",
        ),
        (
            older,
            older,
            "DOCSERVER_JWT_SECRET_PREVIOUS and AUTH_SECRET_PREVIOUS must differ",
        ),
    ] {
        let refused = refusal(auth, docserver).unwrap_or_default();
        assert!(refused.contains(wanted), "{refused}");
    }
}

#[test]
fn repeated_words_are_weak_secrets() {
    assert!(is_known("secretsecretsecretsecretsecretsecret"));
    assert!(is_known("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
    assert!(!is_known("k3f8s0dk3l2m5n8b1v4c7x0z3q6w9e2r5t8y"));
}

#[test]
fn result_folder_consists_of_plain_names() {
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
