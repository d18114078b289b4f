//! A browser: it stores cookies, sends them back, and sends the `Origin` of the page it shows.

use std::collections::BTreeMap;
use std::sync::Mutex;

use reqwest::Method;
use serde_json::{Value, json};

use super::{Answer, Client, TestApp};

pub const TOKEN: &str = "better-auth.session_token";
pub const COPY: &str = "better-auth.session_data";

pub struct Browser {
    base: String,
    jar: Mutex<BTreeMap<String, String>>,
    address: Option<String>,
}

impl Browser {
    pub fn new(app: &TestApp) -> Self {
        Self::with_cookies(app, &[])
    }

    /// Creates a browser with the given cookies.
    pub fn with_cookies(app: &TestApp, cookies: &[(String, String)]) -> Self {
        let jar = Mutex::new(cookies.iter().cloned().collect());
        Self {
            base: app.base.clone(),
            jar,
            address: None,
        }
    }

    /// Creates a browser whose requests come through the proxy from this client address.
    pub fn at(app: &TestApp, address: &str) -> Self {
        Self {
            address: Some(address.to_owned()),
            ..Self::new(app)
        }
    }

    /// Creates a browser for another instance of the service.
    pub fn elsewhere(base: &str) -> Self {
        Self {
            base: base.to_owned(),
            jar: Mutex::default(),
            address: None,
        }
    }

    /// Creates a browser for another instance whose requests come through the proxy from this client address.
    pub fn elsewhere_from(base: &str, address: &str) -> Self {
        Self {
            address: Some(address.to_owned()),
            ..Self::elsewhere(base)
        }
    }

    /// Copies this browser with its present cookies.
    pub fn copy(&self) -> Self {
        self.copy_at(&self.base)
    }

    /// Copies this browser for another instance.
    pub fn copy_at(&self, base: &str) -> Self {
        let jar = Mutex::new(self.jar.lock().unwrap().clone());
        Self {
            base: base.to_owned(),
            jar,
            address: self.address.clone(),
        }
    }

    /// Returns the value of a cookie as it was sent, without decoding escapes.
    pub fn cookie(&self, name: &str) -> Option<String> {
        self.jar.lock().unwrap().get(name).cloned()
    }

    pub fn set_cookie(&self, name: &str, value: &str) {
        self.jar.lock().unwrap().insert(name.to_owned(), value.to_owned());
    }

    pub fn cookies(&self) -> usize {
        self.jar.lock().unwrap().len()
    }

    /// Returns the session token without its signature.
    pub fn token(&self) -> String {
        let cookie = self.cookie(TOKEN).unwrap();
        cookie.rsplit_once('.').unwrap().0.to_owned()
    }

    /// Returns a client with the present cookies.
    pub fn client(&self) -> Client {
        let jar = self.jar.lock().unwrap();
        let pairs: Vec<_> = jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let client = Client::new(&self.base, (!pairs.is_empty()).then(|| pairs.join("; ")));
        match &self.address {
            Some(address) => client.with("x-forwarded-for", address),
            None => client,
        }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.keep(self.client().send(Method::GET, path, None).await)
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.keep(self.client().send(Method::POST, path, Some(body)).await)
    }

    pub async fn sign_in(&self, email: &str, password: &str) -> Answer {
        self.post("/auth/sign-in/email", json!({"email": email, "password": password}))
            .await
    }

    pub async fn set_active(&self, body: Value) -> Answer {
        self.post("/auth/organization/set-active", body).await
    }

    /// Returns the `session` field of the get-session response.
    pub async fn session(&self) -> Value {
        self.get("/auth/get-session").await.expect(200)["session"].clone()
    }

    fn keep(&self, answer: Answer) -> Answer {
        let mut jar = self.jar.lock().unwrap();
        for line in set_cookies(&answer) {
            let (pair, attributes) = line.split_once(';').unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            if attributes.contains("Max-Age=0;") {
                jar.remove(name);
            } else {
                jar.insert(name.to_owned(), value.to_owned());
            }
        }
        answer
    }
}

/// Returns the `Set-Cookie` headers of a response.
pub fn set_cookies(answer: &Answer) -> Vec<String> {
    let lines = answer.headers.get_all("set-cookie").iter();
    lines.map(|line| line.to_str().unwrap().to_owned()).collect()
}

/// Returns the names of the cookies that a response sets or clears.
pub fn cookie_names(answer: &Answer) -> Vec<String> {
    set_cookies(answer)
        .iter()
        .map(|line| line.split('=').next().unwrap().to_owned())
        .collect()
}
