//! Tests PostgreSQL over TLS with the `sslmode` values of libpq: what each mode requires of the server, and the error
//! if a requirement is not met.

use db::Database;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

use test_support::cluster::Cluster;
use test_support::rows::execute;
use test_support::{Client, ServerEnv, World};

/// A certificate authority that signs server certificates.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn sign(&self, host: &str) -> (String, String) {
        let (key, params) = (
            KeyPair::generate().unwrap(),
            CertificateParams::new(vec![host.to_owned()]).unwrap(),
        );
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_sslmode_enforces_its_requirements() {
    let (right, wrong) = (Authority::new("Right"), Authority::new("Wrong"));
    let (certificate, key) = right.sign("localhost");
    let started = tokio::task::spawn_blocking(move || {
        let mut cluster = Cluster::prepare()?;
        cluster.configure(&[
            "ssl = on",
            "ssl_cert_file = 'server.crt'",
            "ssl_key_file = 'server.key'",
        ]);
        cluster.put("server.crt", &certificate);
        cluster.put("server.key", &key);
        cluster.put(
            "pg_hba.conf",
            "local all all trust\nhost open all 127.0.0.1/32 trust\nhostssl all all 127.0.0.1/32 trust\n",
        );
        cluster.begin();
        Some(cluster)
    });
    let Some(cluster) = started.await.unwrap() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, authority: &Authority| {
        let path = folder.path().join(name);
        std::fs::write(&path, authority.0.pem()).unwrap();
        path.display().to_string()
    };
    let (right, wrong) = (file("right.pem", &right), file("wrong.pem", &wrong));
    // The certificate contains `localhost`, but not the IP address.
    let by_name = cluster.url("postgres").replace("127.0.0.1", "localhost");
    let by_name = format!("{by_name}?hostaddr=127.0.0.1&");
    let by_address = format!("{}?", cluster.url("postgres"));

    let mut env = ServerEnv::on_database(&Database::Postgres(format!(
        "{by_name}sslmode=verify-full&sslrootcert={right}"
    )));
    let world = World::create(&env.store().await, &env.database).await;
    let mut service = env.start("serve");
    service.ready().await;
    let ada = Client::new(&service.base, Some(world.ada.cookie.clone()));
    ada.get("/classes").await.expect(200);
    drop(super::socket_probe::SocketProbe::of(&service.base, &world.ada).await);
    let doctor = env.command(&["doctor"], &[]).output().unwrap();
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    for words in ["TLSv1.3", "fsync is on", "LISTEN and NOTIFY work", "instances"] {
        assert!(doctor.contains(words), "{words}: {doctor}");
    }
    assert!(env.command(&["backup", "all.backup"], &[]).status().unwrap().success());
    service.kill();

    for (url, expected) in [
        (format!("{by_address}sslmode=require"), ""),
        (format!("{by_address}sslmode=prefer"), ""),
        (format!("{by_address}sslmode=verify-ca&sslrootcert={right}"), ""),
        (
            format!("{by_address}sslmode=require&sslrootcert={wrong}"),
            "not signed by an authority of sslrootcert",
        ),
        (
            format!("{by_name}sslmode=verify-full&sslrootcert={wrong}"),
            "not signed by an authority of sslrootcert",
        ),
        (
            format!("{by_name}sslmode=verify-full"),
            "not signed by an authority of sslrootcert",
        ),
        (
            format!("{by_address}sslmode=verify-full&sslrootcert={right}"),
            "is for another host",
        ),
        (format!("{by_address}sslmode=disable"), "needs ?sslmode=require"),
        (by_address.trim_end_matches('?').to_owned(), "needs ?sslmode=require"),
    ] {
        let tried = env
            .command(&["migrate", "--create-database"], &[("DATABASE_URL", &url)])
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&tried.stderr).into_owned();
        assert_eq!(tried.status.success(), expected.is_empty(), "{url}: {printed}");
        assert!(printed.contains(expected), "{url}: {printed}");
    }

    // With a server without TLS, `prefer` connects without TLS and `require` fails.
    cluster.append("postgresql.conf", "ssl = off\n");
    cluster.put("pg_hba.conf", "host all all 127.0.0.1/32 trust\n");
    cluster.stop("fast");
    cluster.start_again();
    for (word, expected) in [("prefer", ""), ("require", "speaks none")] {
        let url = format!("{by_address}sslmode={word}");
        let tried = env
            .command(&["migrate", "--create-database"], &[("DATABASE_URL", &url)])
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&tried.stderr).into_owned();
        assert_eq!(tried.status.success(), expected.is_empty(), "{url}: {printed}");
        assert!(printed.contains(expected), "{url}: {printed}");
    }
    execute(&Database::Postgres(cluster.url("postgres")), "SELECT 1".to_owned()).await;
}
