//! Limits the requests in flight per client address behind a trusted proxy. All connections there belong to the proxy,
//! so the limit of connections per address counts requests instead. A WebSocket counts until its upgrade; afterwards
//! the limit of sockets per user applies.

use std::net::IpAddr;

use super::host_resolver::network;
use common::error::{Error, Result};
use common::fair_queue::{FairSemaphore, Permit};

/// `Retry-After` of a rejected request, in seconds.
const PAUSE: u64 = 1;

/// Counts requests in flight; clones share the counts. Memory use is bounded by the number of connections.
#[derive(Clone)]
pub struct ClientRequests(FairSemaphore<IpAddr>);

impl ClientRequests {
    /// Allows `limit` requests in flight per client network.
    pub fn new(limit: usize) -> Self {
        Self(FairSemaphore::new(usize::MAX, limit))
    }

    /// Acquires a permit for a request. Fails with [`Error::RateLimited`] when too many requests of this client are in
    /// flight.
    pub fn acquire(&self, client: IpAddr) -> Result<Permit<IpAddr>> {
        let address = network(client);
        self.0.try_acquire(address).map_err(|_| {
            tracing::debug!(%address, "request rejected: too many requests in flight from this address");
            Error::RateLimited { retry_after: PAUSE }
        })
    }
}
