//! `groupwork demo`: a local demo school without configuration: generated secrets, SQLite, files on disk, the built-in
//! editor for text documents, and a document server simulator for the other kinds in the same process.

mod api_client;
mod fixtures;
mod lesson;
mod people;
mod quick_login;
mod secrets;
mod simulated_students;
mod socket_client;
mod writing;

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use document_server_simulator::{Simulator, SimulatorSettings};
use domain::document_kind::EditorKind;
use domain::network::Network;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use self::api_client::ClientFactory;
use self::people::{PASSWORD, School};
use super::data_folder::{lock, protect};
use super::database::announce;
use super::serve::{LOG_FLUSH_TIMEOUT, build, start_log};
use crate::config::{Config, LOG_LEVELS, RequiredFactor, ServeArgs, StorageArgs};
use api::{router, server};
use common::failpoint;

/// Arguments of `groupwork demo`.
#[derive(Args)]
pub struct DemoArgs {
    /// Folder of the database, the files and the generated secrets
    #[arg(long, env = "DATA_DIR", default_value = "./data")]
    data_dir: PathBuf,
    /// Address and port, on this machine only; by default 3000, or another port if it is in use
    #[arg(long, env = "LISTEN")]
    listen: Option<SocketAddr>,
    /// Log level: error, warn, info, debug, trace
    #[arg(long, env = "LOG_LEVEL", default_value = "warn")]
    log_level: String,
    /// URL of the pages, if another server serves them (make dev)
    #[arg(long)]
    page: Option<String>,
    /// Editor of text documents: builtin, or the one of the document server simulator
    #[arg(long, env = "GROUPWORK_DEMO_DOCUMENT_SERVER", default_value = "builtin")]
    document_server: TextEditor,
    /// Networks without public addresses in which sign-on providers and roster servers may be
    #[arg(long, env = "SIGN_ON_NETWORKS", value_delimiter = ',')]
    sign_on_networks: Vec<Network>,
    /// Do not simulate students who write, chat and ask for help
    #[arg(long, env = "GROUPWORK_DEMO_STILL")]
    still: bool,
}

/// Where the demo opens text documents. Spreadsheets and presentations open in the simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TextEditor {
    Builtin,
    Simulator,
}

/// Runs the demo until it is stopped.
pub fn run(arguments: DemoArgs) -> anyhow::Result<()> {
    if !LOG_LEVELS.contains(&arguments.log_level.as_str()) {
        bail!("LOG_LEVEL must be one of {}", LOG_LEVELS.join(", "));
    }
    let log = start_log("text", &arguments.log_level)?;
    if let Some(specification) = crate::config::failpoint() {
        failpoint::arm_kill(&specification);
    }
    let storage = StorageArgs {
        data_dir: arguments.data_dir.clone(),
        ..StorageArgs::default()
    };
    let database = storage.database()?;
    announce(&database);
    protect(&storage.data_dir);
    let _lock = lock(&database, Duration::from_secs(storage.database_wait_seconds))?;
    let outcome = super::run_service(demo(arguments));
    log.flush(LOG_FLUSH_TIMEOUT);
    outcome
}

async fn demo(arguments: DemoArgs) -> anyhow::Result<()> {
    let listener = bind(arguments.listen).await?;
    let address = listener.local_addr()?;
    let secrets = secrets::load_or_create(&arguments.data_dir)?;
    let practice = Simulator::start(SimulatorSettings::new(secrets.docserver.clone()))
        .await
        .context("document server simulator")?;
    let own_url = format!("http://{address}");
    let frontend_url = arguments.page.unwrap_or_else(|| own_url.clone());
    let config = Config::check(
        ServeArgs {
            frontend_url: Some(frontend_url.clone()),
            docserver_jwt_secret: Some(secrets.docserver.as_str().into()),
            auth_secret: Some(secrets.auth.as_str().into()),
            docserver_url: Some(practice.url()),
            editor_text: Some(match arguments.document_server {
                TextEditor::Builtin => EditorKind::Builtin,
                TextEditor::Simulator => EditorKind::OnlyOffice,
            }),
            listen: address.into(),
            sign_on_networks: arguments.sign_on_networks,
            // Visitors of the demo sign in with a button.
            second_factor_for_platform_administrators: RequiredFactor(false),
            ..ServeArgs::default()
        },
        StorageArgs {
            data_dir: arguments.data_dir.clone(),
            ..StorageArgs::default()
        },
    )?;
    let app = build(config, &own_url).await?;
    let school = School::find_or_create(app.store())
        .await
        .context("the people of the demo school")?;
    let router = quick_login::layer(router::router(app.clone()), &school);
    let signals = server::StopSignals::watch()?;
    let serving = tokio::spawn(server::serve(listener, router, app.clone(), signals.received()));
    let clients = ClientFactory::new(
        app.store().clone(),
        [&own_url, &frontend_url],
        app.authenticator().secret(),
    )?;
    let students = (!arguments.still).then_some(arguments.document_server);
    let lesson = prepare(&clients, &school, students)
        .await
        .context("the lesson of the demo school")?;
    if let Err(error) = print_sign_ins(&frontend_url, &practice.url(), &school) {
        tracing::warn!(%error, "stdout not writable");
    }
    serving.await??;
    drop(lesson);
    practice.stop().await;
    Ok(())
}

/// Creates the content of a new school, or resumes the lesson of an earlier run. Returns the tasks of the simulated
/// students.
async fn prepare(
    clients: &ClientFactory,
    school: &School,
    students: Option<TextEditor>,
) -> anyhow::Result<JoinSet<()>> {
    if school.is_new {
        fixtures::seed(clients, school).await?;
    } else {
        lesson::extend_deadline(clients, school).await?;
    }
    match students {
        Some(editor) => simulated_students::start(clients, school, editor == TextEditor::Builtin).await,
        None => Ok(JoinSet::new()),
    }
}

async fn bind(wanted: Option<SocketAddr>) -> anyhow::Result<TcpListener> {
    if let Some(address) = wanted {
        if !address.ip().is_loopback() {
            bail!("LISTEN: the demo has known passwords and binds to this machine only; use 127.0.0.1");
        }
        return TcpListener::bind(address)
            .await
            .with_context(|| format!("listen on {address}"));
    }
    match TcpListener::bind((Ipv4Addr::LOCALHOST, 3000)).await {
        Ok(listener) => Ok(listener),
        Err(_) => Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?),
    }
}

fn print_sign_ins(frontend_url: &str, document_server: &str, school: &School) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\ngroupwork demo: {frontend_url}")?;
    writeln!(
        out,
        "Its document server is a simulator, not ONLYOFFICE: {document_server}\n"
    )?;
    writeln!(out, "Everybody signs in with the password {PASSWORD}")?;
    for (part, email) in school.sign_ins() {
        writeln!(out, "  {part:<34} {email}")?;
    }
    writeln!(out, "\nCtrl-C stops it; the school stays in the data folder.")?;
    Ok(())
}
