//! Sign-on through the OpenID Connect providers of a school. The attacks are those of RFC 9700 and of OpenID Connect Core;
//! each test fails without the rule that it names.

mod accounts;
mod attacks;
mod confinement;
mod keys;
mod logout;
mod providers;

use reqwest::Method;
use serde_json::{Value, json};

use test_support::browser::set_cookies;
use test_support::fake_openid_provider::{Authorized, FakeOpenIdProvider, parse_form};
use test_support::{Answer, Browser, FRONTEND, SecondInstance, TestApp, TestUser};

/// A provider of North and the id of its row.
struct SchoolSignOn {
    provider: FakeOpenIdProvider,
    id: String,
}

impl SchoolSignOn {
    /// Adds a provider to North, with these fields in addition.
    async fn start(app: &TestApp, more: Value) -> Self {
        let provider = FakeOpenIdProvider::start().await;
        let id = add(app, &app.world.adam, &provider, more).await;
        Self { provider, id }
    }

    /// Starts a sign-in and returns the URL of the provider.
    async fn begin(&self, browser: &Browser) -> String {
        begin(
            browser,
            json!({"providerId": self.id, "callbackURL": "/today", "errorCallbackURL": "/login"}),
        )
        .await
    }

    /// Runs a sign-in of a person with these claims up to the response that the browser carries back.
    async fn authorized(&self, browser: &Browser, person: &Value) -> Authorized {
        let url = self.begin(browser).await;
        self.provider.authorize(&url, person)
    }

    /// Runs a whole sign-in and returns the page to which the browser is sent.
    async fn sign_in(&self, browser: &Browser, person: &Value) -> ReturnedPage {
        let authorized = self.authorized(browser, person).await;
        follow(browser, &authorized).await
    }

    /// Links a subject to a user.
    async fn link(&self, app: &TestApp, subject: &str, user: &TestUser) {
        let body = json!({"userId": user.id, "subject": subject});
        app.as_(&app.world.olga)
            .post(&format!("/admin/sign-on/{}/identities", self.id), body)
            .await
            .expect(201);
    }
}

/// Adds a provider to the school of an administrator.
async fn add(app: &TestApp, admin: &TestUser, provider: &FakeOpenIdProvider, more: Value) -> String {
    let made = app
        .as_(admin)
        .post("/admin/sign-on", provider.settings(&more))
        .await
        .expect(201);
    made["id"].as_str().unwrap().to_owned()
}

async fn begin(browser: &Browser, body: Value) -> String {
    let started = browser.post("/auth/sign-in/sso", body).await.expect(200);
    assert_eq!(started["redirect"], true);
    started["url"].as_str().unwrap().to_owned()
}

/// The page to which the service sends the browser.
#[derive(Debug, PartialEq, Eq)]
struct ReturnedPage {
    path: String,
    error: Option<String>,
    description: Option<String>,
}

impl ReturnedPage {
    fn of(answer: &Answer) -> Self {
        assert_eq!(answer.status, 302, "{}", String::from_utf8_lossy(&answer.bytes));
        let location = answer.header("location");
        let path = location.strip_prefix(FRONTEND).unwrap_or_else(|| panic!("{location}"));
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let parameters = parse_form(query);
        let of = |name: &str| {
            let mut found = parameters.iter().filter(|(key, _)| key == name);
            found.next().map(|(_, value)| value.clone())
        };
        Self {
            path: path.to_owned(),
            error: of("error"),
            description: of("error_description"),
        }
    }

    #[track_caller]
    fn is_signed_in(&self) {
        assert_eq!(
            (self.path.as_str(), self.error.as_deref()),
            ("/today", None),
            "{self:?}"
        );
    }

    #[track_caller]
    fn is_refused(&self, error: &str, description: &str) {
        assert_eq!(self.path, "/login", "{self:?}");
        let found = (self.error.as_deref(), self.description.as_deref().unwrap_or_default());
        assert_eq!(found, (Some(error), description));
    }
}

/// Carries the response of a provider back.
async fn follow(browser: &Browser, authorized: &Authorized) -> ReturnedPage {
    ReturnedPage::of(&browser.get(&authorized.path()).await)
}

/// Posts the response of a provider as a form of a page of the provider.
async fn post_form(browser: &Browser, authorized: &Authorized, origin: &str) -> Answer {
    let path = authorized.path();
    let client = browser.client().with("origin", origin);
    let request = client
        .request(Method::POST, path.split('?').next().unwrap())
        .header("content-type", "application/x-www-form-urlencoded")
        .body(authorized.form());
    let fields = authorized.parameters.iter().cloned();
    let shown: serde_json::Map<_, _> = fields.map(|(key, value)| (key, json!(value))).collect();
    client.finish_showing(request, Some(Value::Object(shown))).await
}

/// Asserts that no user is signed in.
async fn assert_signed_out(browser: &Browser) {
    assert_eq!(browser.get("/auth/get-session").await.expect(200), Value::Null);
}

/// Asserts that this user is signed in and works in North.
async fn assert_signed_in(app: &TestApp, browser: &Browser, user: &TestUser) {
    let me = browser.get("/users/me").await.expect(200);
    assert_eq!(me["id"], json!(user.id));
    assert_eq!(me["organization"]["id"], json!(app.world.north));
}

fn person(subject: &str) -> Value {
    json!({"sub": subject, "name": "Someone"})
}

tenants!(identity_opens_linked_account, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    school.link(app, "ben-at-school", &app.world.ben).await;
    let browser = Browser::new(app);
    school.sign_in(&browser, &person("ben-at-school")).await.is_signed_in();
    assert_signed_in(app, &browser, &app.world.ben).await;
    // The account works as after a sign-in with a password.
    browser.get("/groups").await.expect(200);
    let session = browser.session().await;
    assert_eq!(session["activeOrganizationId"], json!(app.world.north));
});

tenants!(form_post_response_of_foreign_origin_is_accepted, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    school.link(app, "ben-at-school", &app.world.ben).await;
    let browser = Browser::new(app);
    let authorized = school.authorized(&browser, &person("ben-at-school")).await;
    // Other requests of that origin are rejected.
    let client = browser.client().with("origin", &school.provider.issuer);
    client
        .post("/auth/sign-out", json!({}))
        .await
        .refused(403, "INVALID_ORIGIN");
    let answer = post_form(&browser, &authorized, &school.provider.issuer).await;
    ReturnedPage::of(&answer).is_signed_in();
    assert!(answer.header("set-cookie").starts_with("better-auth.session_token="));
});

both!(forms_of_other_sites_send_the_cookie_of_a_sign_in_with_tls_only, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    let secure = "https://school.test";
    let instance = SecondInstance::start(app, &[&format!("--frontend-url={secure}")]).await;
    for (base, origin, name, scope) in [
        (&app.base, FRONTEND, "groupwork.sign_on", "SameSite=Lax"),
        (
            &instance.base,
            secure,
            "__Host-groupwork.sign_on",
            "Secure; SameSite=None",
        ),
    ] {
        let browser = Browser::elsewhere(base).client().with("origin", origin);
        let body = json!({"providerId": school.id, "callbackURL": "/today"});
        let started = browser.post("/auth/sign-in/sso", body).await;
        let cookies = set_cookies(&started);
        started.expect(200);
        assert_eq!(cookies.len(), 1, "{cookies:?}");
        assert!(cookies[0].starts_with(&format!("{name}=")), "{cookies:?}");
        let expected = format!("; Max-Age=600; Path=/; HttpOnly; {scope}");
        assert!(cookies[0].ends_with(&expected), "{cookies:?}");
    }
    instance.close().await;
});

tenants!(provider_is_found_by_school_domain_and_address, |app| {
    let school = SchoolSignOn::start(app, json!({})).await;
    let domain = verified_domain(app, &app.world.north).await;
    let slug = slug_of(app).await;
    let browser = Browser::new(app);
    let own = format!("{}/authorize?", school.provider.issuer);
    for named in [
        json!({"providerId": school.id}),
        json!({"organizationSlug": slug}),
        json!({"domain": domain}),
        json!({"email": format!("ben@{domain}")}),
        json!({"organizationSlug": slug, "issuer": school.provider.issuer}),
    ] {
        let mut body = named.clone();
        body["callbackURL"] = json!("/");
        let url = begin(&browser, body).await;
        assert!(url.starts_with(&own), "{named}: {url}");
        assert_eq!(url.contains("login_hint=ben%40"), named.get("email").is_some(), "{url}");
    }
    for unknown in [
        json!({"providerId": "unknown"}),
        json!({"organizationSlug": "unknown"}),
        json!({"domain": "unknown.example"}),
        json!({"email": "ben@sub.unknown.example"}),
        json!({"organizationSlug": slug, "issuer": "https://other.example"}),
    ] {
        let mut body = unknown.clone();
        body["callbackURL"] = json!("/");
        browser.post("/auth/sign-in/sso", body).await.expect(404);
    }
    // Without a name the host names the school.
    browser
        .post("/auth/sign-in/sso", json!({"callbackURL": "/"}))
        .await
        .expect(404);
    let host = format!("{slug}.schools.test");
    let client = browser.client().with("host", &host);
    let started = client
        .post("/auth/sign-in/sso", json!({"callbackURL": "/"}))
        .await
        .expect(200);
    assert!(started["url"].as_str().unwrap().starts_with(&own));
    let options = app
        .stranger()
        .with("host", &host)
        .get("/sign-on/providers")
        .await
        .expect(200);
    assert_eq!(options[0]["id"], json!(school.id));
    assert_eq!(options.as_array().unwrap().len(), 1);
});

tenants!(mail_domain_selects_among_several_providers, |app| {
    let (staff, pupils) = (FakeOpenIdProvider::start().await, FakeOpenIdProvider::start().await);
    let domains = [
        verified_domain(app, &app.world.north).await,
        verified_domain(app, &app.world.north).await,
    ];
    let adam = &app.world.adam;
    add(app, adam, &staff, json!({"domains": [domains[0]]})).await;
    add(app, adam, &pupils, json!({"domains": [domains[1]]})).await;
    let browser = Browser::new(app);
    for (domain, provider) in domains.iter().zip([&staff, &pupils]) {
        let url = begin(&browser, json!({"email": format!("x@{domain}"), "callbackURL": "/"})).await;
        assert!(url.starts_with(&provider.issuer), "{domain}: {url}");
    }
    // A domain that another school holds selects no provider of North, even if North names it.
    let foreign = verified_domain(app, &app.world.south).await;
    let other = FakeOpenIdProvider::start().await;
    add(app, adam, &other, json!({"domains": [foreign]})).await;
    let body = json!({"email": format!("zack@{foreign}"), "callbackURL": "/"});
    browser.post("/auth/sign-in/sso", body).await.expect(404);
});

/// Assigns a new mail domain to a school.
async fn verified_domain(app: &TestApp, school: &str) -> String {
    let domain = test_support::name_server::domain();
    app.as_(&app.world.root)
        .post(&format!("/tenants/{school}/domains"), json!({"domain": domain}))
        .await
        .expect(201);
    domain
}

async fn slug_of(app: &TestApp) -> String {
    let settings = app.as_(&app.world.adam).get("/admin/settings").await.expect(200);
    settings["slug"].as_str().unwrap().to_owned()
}
