//! `groupwork demo`: a school to try, with everything it needs, on this machine only.

use clap::Args;

/// How to run the demo.
#[derive(Args)]
pub struct DemoArgs {}

/// Runs the demo until told to stop.
pub fn run(_: DemoArgs) -> anyhow::Result<()> {
    anyhow::bail!("the demo school is being built")
}
