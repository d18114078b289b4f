//! What a handler gets: the caller and the doors to the store. There is no other way for a handler to reach data.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

pub use crate::app::App;
use crate::auth::Caller;
use crate::changes;
use crate::error::{Error, Result};
use crate::store::{Scope, Standpoint, Work};

/// The caller of a request and his two doors.
#[derive(Clone)]
pub struct Context {
    caller: Caller,
    app: App,
}

impl FromRequestParts<App> for Context {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        // The guard of the route put the caller here; a route without guard has no caller and no Context.
        let caller = parts
            .extensions
            .get::<Caller>()
            .cloned()
            .ok_or(Error::Unauthenticated)?;
        Ok(Self {
            caller,
            app: app.clone(),
        })
    }
}

impl Context {
    /// Who asks.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The parts of the service a handler may use besides the store: files, document server, settings.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// Reads in the caller's organization, as he sees it.
    pub async fn read<T: Send + 'static>(
        &self,
        look: impl FnOnce(&mut Scope<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.app.store().read(self.standpoint()?, look).await
    }

    /// Acts in the caller's organization as one unit; what the action records is logged and told.
    pub async fn write<T: Send + 'static>(
        &self,
        act: impl FnMut(&mut Work<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        changes::perform(self.app.store(), self.app.bus(), self.standpoint()?, act).await
    }

    /// Where the caller stands; without an organization there is nothing to read or write.
    pub fn standpoint(&self) -> Result<Standpoint> {
        self.caller.standpoint().ok_or(Error::NoActiveOrganization)
    }
}
