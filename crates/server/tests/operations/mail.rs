//! Email: the SMTP exchange, a mail server that fails or is slow does not affect requests, and no link is sent
//! unencrypted when encryption is required.

use db::args;
use db::sql::Sql;
use groupwork::config::{Config, ServeArgs, StorageArgs};
use serde_json::json;

use crate::ports::closed_port;
use test_support::emails::{outbox, queued_emails};
use test_support::fake_smtp::{FakeSmtp, SmtpBehavior};
use test_support::{DatabaseKind, ServerEnv, TestApp, TestUser, until};

db::statements! {
    READ_SEALED = "SELECT sealed FROM letters";
    SET_GERMAN = "UPDATE users SET locale = 'de-AT', name = $2 WHERE id = $1";
    MAKE_DUE = "UPDATE letters SET next_attempt_at = 0";
    EXPIRE = "UPDATE letters SET expires_at = 0, next_attempt_at = 0";
}

/// Requests a reset link. The response is always the same.
async fn request_reset(app: &TestApp, email: &str) {
    let answer = app
        .stranger()
        .post("/auth/request-password-reset", json!({"email": email}))
        .await;
    assert_eq!(answer.expect(200)["status"], true);
}

/// Waits until `wanted` emails are queued.
async fn wait_for_queued(app: &TestApp, wanted: i64) {
    assert_eq!(STATEMENTS.len(), 4);
    until("so many emails are queued", async || queued_emails(app).await == wanted).await;
}

/// Runs the statement on queued emails repeatedly, also while they are being sent, until the queue is empty.
async fn update_until_empty(app: &TestApp, statement: &'static Sql) {
    until("no email is queued", async || {
        app.raw(|connection| connection.execute(statement, &[]).unwrap()).await;
        queued_emails(app).await == 0
    })
    .await;
}

/// Starts the service with this mail server.
async fn start(kind: DatabaseKind, url: &str) -> Option<TestApp> {
    let url = format!("--smtp-url={url}");
    TestApp::start_with(kind, &[&url, "--mail-from=Our School <office@school.test>"]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn email_is_sent_in_language_of_recipient() {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        let mail_server = FakeSmtp::open(&[]).await;
        let url = format!("smtp://clerk:p%40ss@127.0.0.1:{}", mail_server.port);
        let Some(app) = start(kind, &url).await else { return };
        let ada = &app.world.ada;
        let id = ada.id.clone();
        let name = "Ada Müller\r\nBcc: everybody@school.test";
        app.raw(move |connection| connection.execute(&SET_GERMAN, args![id, name]).unwrap())
            .await;
        request_reset(&app, &ada.email).await;
        mail_server
            .until("an email", |mail_server| mail_server.emails().len() == 1)
            .await;
        wait_for_queued(&app, 0).await;

        let received = mail_server.emails().remove(0);
        assert_eq!(received.to, ada.email);
        assert_eq!(received.subject, "Ein neues Passwort wählen");
        assert!(
            received
                .text
                .contains("Guten Tag Ada Müller  Bcc: everybody@school.test,"),
            "{}",
            received.text
        );
        assert!(received.link().starts_with("/reset-password#token="));
        assert!(
            received
                .html
                .contains("<a href=\"http://school.test/reset-password#token=")
        );
        let head = received.raw.split("\r\n\r\n").next().unwrap();
        let field = |name: &str| head.lines().find(|line| line.starts_with(name)).map(str::to_owned);
        assert_eq!(
            field("Auto-Submitted:").as_deref(),
            Some("Auto-Submitted: auto-generated")
        );
        assert_eq!(
            field("From:").as_deref(),
            Some("From: \"Our School\" <office@school.test>")
        );
        assert!(
            field("Message-ID:").is_some_and(|id| id.ends_with("@school.test>")),
            "{head}"
        );
        assert!(field("Date:").is_some() && field("MIME-Version:").is_some(), "{head}");
        assert_eq!(field("Bcc:"), None, "a name is no header: {head}");
        let lines = mail_server.lines();
        assert!(lines.iter().any(|line| line.starts_with("AUTH PLAIN")), "{lines:?}");
        let recipients = lines.iter().filter(|line| line.starts_with("RCPT"));
        assert_eq!(recipients.collect::<Vec<_>>(), [&format!("RCPT TO:<{}>", ada.email)]);
        app.close().await;
    }
}

/// Requests a reset link and returns the subject of the email.
async fn subject_of_reset(app: &TestApp, mail_server: &FakeSmtp, email: &str) -> String {
    request_reset(app, email).await;
    let sent = || mail_server.emails().into_iter().find(|sent| sent.to == email);
    mail_server.until("an email", |_| sent().is_some()).await;
    sent().unwrap().subject
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn email_is_sent_in_language_of_school_or_installation_if_recipient_chose_none() {
    const ENGLISH: &str = "Choose a new password";
    const GERMAN: &str = "Ein neues Passwort wählen";
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        for (default_language, of_installation) in [("en", ENGLISH), ("de", GERMAN)] {
            let mail_server = FakeSmtp::open(&[]).await;
            let url = format!("--smtp-url=smtp://127.0.0.1:{}", mail_server.port);
            let language = format!("--default-language={default_language}");
            let flags = [url.as_str(), "--mail-from=Our School <office@school.test>", &language];
            let Some(app) = TestApp::start_with(kind, &flags).await else {
                return;
            };
            let world = &app.world;
            let subject = async |user: &TestUser| subject_of_reset(&app, &mail_server, &user.email).await;
            assert_eq!(subject(&world.zoe).await, of_installation, "her school has no language");
            let settings = json!({"metadata": {"locale": "de"}});
            app.as_(&world.adam)
                .patch("/admin/settings", settings)
                .await
                .expect(200);
            assert_eq!(subject(&world.ada).await, GERMAN);
            let own = json!({"locale": "en-GB"});
            app.as_(&world.ben).patch("/users/me", own).await.expect(200);
            assert_eq!(subject(&world.ben).await, ENGLISH);
            app.close().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn temporary_smtp_failure_delays_email_and_sends_it_once() {
    let mail_server = FakeSmtp::open(&[SmtpBehavior::Close, SmtpBehavior::RejectTemporarily]).await;
    let url = format!("smtp://127.0.0.1:{}", mail_server.port);
    let app = start(DatabaseKind::Sqlite, &url).await.unwrap();
    request_reset(&app, &app.world.ada.email).await;
    mail_server
        .until("the second try", |mail_server| {
            mail_server.lines().iter().any(|line| line.starts_with("RCPT"))
        })
        .await;
    assert_eq!(queued_emails(&app).await, 1, "it is not lost");
    // The server rejected it temporarily, and the next attempt is in one minute.
    update_until_empty(&app, &MAKE_DUE).await;
    assert_eq!(mail_server.emails().len(), 1);
    assert!(!app.folder().join("outbox").exists());
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rejected_or_expired_email_is_written_to_outbox_folder() {
    let mail_server = FakeSmtp::open(&[SmtpBehavior::RejectPermanently]).await;
    let app = start(DatabaseKind::Sqlite, &format!("smtp://127.0.0.1:{}", mail_server.port))
        .await
        .unwrap();
    request_reset(&app, &app.world.ada.email).await;
    assert_eq!(outbox(&app, 1).await[0].to, app.world.ada.email);
    wait_for_queued(&app, 0).await;
    assert!(mail_server.emails().is_empty());
    app.close().await;

    let (_closed, address) = closed_port();
    let app = start(DatabaseKind::Sqlite, &format!("smtp://{address}")).await.unwrap();
    request_reset(&app, &app.world.ada.email).await;
    wait_for_queued(&app, 1).await;
    update_until_empty(&app, &EXPIRE).await;
    assert_eq!(outbox(&app, 1).await[0].to, app.world.ada.email);
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silent_smtp_server_blocks_no_request_and_keeps_links_sealed() {
    let mail_server = FakeSmtp::open(&[SmtpBehavior::Hang]).await;
    let app = start(DatabaseKind::Sqlite, &format!("smtp://127.0.0.1:{}", mail_server.port))
        .await
        .unwrap();
    request_reset(&app, &app.world.ada.email).await;
    mail_server
        .until("a connection", |mail_server| mail_server.connections() == 1)
        .await;
    // The server still sends nothing, and requests get their responses.
    request_reset(&app, &app.world.ben.email).await;
    request_reset(&app, "nobody@nowhere.example").await;
    app.as_(&app.world.ada).get("/courses").await.expect(200);
    let sealed = app.raw(|connection| {
        connection
            .fetch_all(&READ_SEALED, &[], |row| row.only::<String>())
            .unwrap()
    });
    for sealed in sealed.await {
        assert!(!sealed.contains("reset-password") && !sealed.contains('@'), "{sealed}");
    }
    mail_server.release();
    mail_server
        .until("both emails", |mail_server| mail_server.emails().len() == 2)
        .await;
    wait_for_queued(&app, 0).await;
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn email_is_not_sent_without_required_encryption() {
    for scheme in ["starttls", "smtps"] {
        let mail_server = FakeSmtp::open(&[]).await;
        let url = format!("{scheme}://clerk:secret@127.0.0.1:{}", mail_server.port);
        let app = start(DatabaseKind::Sqlite, &url).await.unwrap();
        request_reset(&app, &app.world.ada.email).await;
        mail_server
            .until("two tries", |mail_server| mail_server.connections() >= 2)
            .await;
        let lines = mail_server.lines();
        let received = |word: &str| lines.iter().any(|line| line.to_ascii_uppercase().starts_with(word));
        assert!(
            !received("MAIL") && !received("AUTH") && mail_server.emails().is_empty(),
            "{scheme}: {lines:?}"
        );
        assert_eq!(queued_emails(&app).await, 1);
        app.close().await;
    }
}

#[test]
fn mail_settings_are_validated_and_hide_the_password() {
    let folder = tempfile::tempdir().unwrap();
    let check = |smtp: Option<&str>, from: Option<&str>| {
        let serve = ServeArgs {
            frontend_url: Some("https://school.example".to_owned()),
            auth_secret: Some(test_support::AUTH_SECRET.into()),
            docserver_jwt_secret: Some(test_support::DOCSERVER_SECRET.into()),
            smtp_url: smtp.map(Into::into),
            mail_from: from.map(str::to_owned),
            ..ServeArgs::default()
        };
        let storage = StorageArgs {
            data_dir: folder.path().to_owned(),
            ..StorageArgs::default()
        };
        Config::check(serve, storage)
    };
    let refused = |smtp, from| check(smtp, from).unwrap_err().0;
    assert!(refused(Some("smtps://mail.example"), None).contains("SMTP_URL needs MAIL_FROM"));
    assert!(refused(Some("http://mail.example"), Some("a@b.example")).contains("SMTP_URL must look like"));
    let plain = refused(Some("smtp://u:hunter2@mail.example"), Some("a@b.example"));
    assert!(plain.contains("unencrypted") && !plain.contains("hunter2"), "{plain}");
    assert!(refused(None, Some("not an address")).contains("MAIL_FROM must be"));
    let config = check(Some("smtps://u:hunter2@mail.example"), Some("School <a@b.example>")).unwrap();
    assert!(!format!("{config:?}").contains("hunter2"));
    let unset = check(Some("  "), None).unwrap();
    assert!(unset.smtp.is_none());
    assert_eq!(unset.mail_from.email.to_string(), "no-reply@school.example");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mail_test_sends_message_and_prints_error_of_server() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let server = FakeSmtp::open(&[]).await;
    let run = |url: &str, language: &str| {
        let arguments = ["mail", "test", "ada@school.test", "--language", language];
        let extra = [("SMTP_URL", url), ("MAIL_FROM", "Our School <office@school.test>")];
        let output = env.command(&arguments, &extra).output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), text)
    };
    let url = format!("smtp://127.0.0.1:{}", server.port);
    for (language, subject) in [
        ("en", "Test message from groupwork"),
        ("de", "Testnachricht von groupwork"),
    ] {
        let (code, text) = run(&url, language);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("accepted the message from"), "{text}");
        let email = server.emails().pop().unwrap();
        assert_eq!(
            (email.to.as_str(), email.subject.as_str()),
            ("ada@school.test", subject)
        );
        assert!(email.text.contains("http://school.test/"), "{}", email.text);
    }
    let refusing = FakeSmtp::open(&[SmtpBehavior::RejectPermanently]).await;
    let (code, text) = run(&format!("smtp://127.0.0.1:{}", refusing.port), "en");
    assert_eq!(code, Some(1));
    assert!(text.contains("no such person"), "{text}");
    let (code, text) = run("", "en");
    assert_eq!(code, Some(1));
    assert!(text.contains("SMTP_URL is unset"), "{text}");
}
