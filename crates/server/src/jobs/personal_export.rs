//! Gathers what an organization holds about a person into one file.

use super::{Jobs, Outcome};
use crate::error::Result;
use crate::store::platform::jobs::Held;

pub(super) async fn run(_jobs: &Jobs, _held: &Held) -> Result<Outcome> {
    Ok(Outcome::default())
}
