//! `document-server-simulator`.

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    document_server_simulator::run_command_line(None).await
}
