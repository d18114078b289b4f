//! The data folder is owned by one system user and used by one service at a time.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::commands::dotenv;
use test_support::app::{AUTH_SECRET, DOCSERVER_SECRET};
use test_support::{Client, DatabaseKind, ServerEnv, World, office};

/// Returns all paths below a folder, and the folder itself.
fn all(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(all(&path));
        } else {
            found.push(path);
        }
    }
    found
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_of_service_are_readable_by_their_owner_only() {
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    // One folder that the service creates itself, and one that an earlier release created with open permissions.
    let data = env.folder().join("new/data");
    env.set("DATA_DIR", data.to_str().unwrap());
    let mut shell = env.command(&[], &[("LISTEN", "127.0.0.1:0")]);
    shell.env_remove("PATH");
    let program = shell.get_program().to_owned();
    let start = || {
        let mut command = Command::new("sh");
        command
            .args(["-c", "umask 022; exec \"$0\" serve"])
            .arg(&program)
            .env_clear();
        command.envs(shell.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut child = command
            .current_dir(env.folder())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut stdout, &mut line).unwrap();
        (
            child,
            line.trim().strip_prefix("groupwork listens on ").unwrap().to_owned(),
        )
    };
    let (mut child, base) = start();
    let database = db::Database::Sqlite(data.join("groupwork.db"));
    let store = groupwork::bootstrap::open_store(&database, 1, 1).await.unwrap();
    let world = World::create(&store, &database).await;
    drop(store);
    let ada = Client::new(&base, Some(world.ada.cookie.clone()));
    let group = serde_json::json!({"classId": world.seven_b.id, "memberIds": [world.ben.id]});
    let group = ada.post("/groups", group).await.expect(201);
    let path = format!("/workrooms/{}/documents", group["workRoomId"].as_str().unwrap());
    let ben = Client::new(&base, Some(world.ben.cookie.clone()));
    ben.upload(&path, "a.docx", office::docx("mine"), &[]).await.expect(201);
    let open = |data: &Path| {
        let wrong = |path: &PathBuf| mode(path) != if path.is_dir() { 0o700 } else { 0o600 };
        all(data).into_iter().filter(wrong).collect::<Vec<_>>()
    };
    let written = all(&data);
    assert!(
        written
            .iter()
            .any(|path| path.extension().is_some_and(|end| end == "docx")),
        "{written:?}"
    );
    // The test also opened the database, but the service created its files.
    assert_eq!(open(&data), Vec::<PathBuf>::new());
    child.kill().unwrap();
    child.wait().unwrap();

    for (name, mode) in [("groupwork.db", 0o644), ("files", 0o755)] {
        std::fs::set_permissions(data.join(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let (mut child, _) = start();
    assert_eq!(open(&data), Vec::<PathBuf>::new());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn secret_file_readable_by_others_is_rejected_by_name() {
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let run = |env: &ServerEnv, arguments: &[&str]| {
        let output = env.command(arguments, &[]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    dotenv(&env, b"LOG_LEVEL=warn\n", 0o644);
    for command in [&["serve"][..], &["config", "check"], &["doctor"], &["scrub"]] {
        let (code, words) = run(&env, command);
        assert_eq!(code, Some(1), "{words}");
        assert!(
            words.starts_with(".env: every user of this machine can read it"),
            "{words}"
        );
    }
    dotenv(&env, b"LOG_LEVEL=warn\n", 0o640);
    assert_eq!(run(&env, &["config", "check"]).0, Some(0));

    for (name, secret) in [
        ("AUTH_SECRET", AUTH_SECRET),
        ("DOCSERVER_JWT_SECRET", DOCSERVER_SECRET),
        ("SMTP_URL", "smtp://mail.test"),
        ("DATABASE_URL", "postgres://mail.test/x"),
    ] {
        let file = env.folder().join(format!("{name}.secret"));
        std::fs::write(&file, secret).unwrap();
        env.set(name, "");
        env.set("MAIL_FROM", "office@school.test");
        env.set(&format!("{name}_FILE"), file.to_str().unwrap());
        let permit = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        permit(0o644);
        let (code, words) = run(&env, &["config", "check"]);
        assert_eq!(code, Some(1), "{name}: {words}");
        assert!(words.contains(&format!("{}: every user", file.display())), "{words}");
        assert!(!words.contains(secret), "{words}");
        permit(0o600);
        assert_eq!(run(&env, &["config", "check"]).0, Some(0), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn second_service_on_data_folder_waits_and_is_rejected() {
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let mut first = env.start("serve");
    first.ready().await;
    let elsewhere = [("LISTEN", "127.0.0.1:0"), ("DATABASE_WAIT_SECONDS", "1")];
    let refused = tokio::task::block_in_place(|| env.try_start("serve", &elsewhere).err());
    let log = refused.expect("two services on one folder");
    assert!(
        log.contains("waiting for another service to release the data folder"),
        "{log}"
    );
    assert!(
        log.contains(&format!(
            "is used by another groupwork service (process {})",
            first.id()
        )),
        "{log}"
    );
    // A restore also writes.
    let run = |arguments: &[&str]| {
        // Another program may use the default port, which the doctor reports.
        let output = env.command(arguments, &[("LISTEN", "127.0.0.1:0")]).output().unwrap();
        let words = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(words).unwrap())
    };
    // Commands that only read, or that write rows concurrently, are accepted.
    for command in [
        &["admin", "create", "--email", "root@school.test", "--name", "Root"][..],
        &["backup", "x.backup"],
        &["scrub"],
        &["migrate"],
        &["doctor"],
    ] {
        let (is_done, words) = run(command);
        assert!(is_done, "{command:?}: {words}");
    }
    let (is_done, words) = run(&["restore", "x.backup", "--yes"]);
    assert!(!is_done && words.contains("stop the service first"), "{words}");

    // A waiting service starts when the first one ends, also when it was killed.
    for signal in ["-TERM", "-KILL"] {
        let mut successor = env.command(
            &["serve"],
            &[("LISTEN", "127.0.0.1:0"), ("DATABASE_WAIT_SECONDS", "120")],
        );
        let log = env.folder().join(format!("successor{signal}"));
        let mut successor = successor
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        while !std::fs::read_to_string(&log)
            .unwrap()
            .contains("waiting for another service")
        {
            assert!(successor.try_wait().unwrap().is_none());
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        let id = first.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        tokio::task::block_in_place(|| first.wait());
        let mut line = String::new();
        let mut stdout = std::io::BufReader::new(successor.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut stdout, &mut line).unwrap();
        assert!(line.starts_with("groupwork listens on"), "{line}");
        successor.kill().unwrap();
        successor.wait().unwrap();
        first = env.start("serve");
    }
    first.kill();
}
