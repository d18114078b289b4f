//! Limits the requests in flight per client address behind a trusted proxy. All connections there belong to the proxy,
//! so the limit of connections per address counts requests instead. A WebSocket counts until its upgrade; afterwards
//! the limit of sockets per user applies.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::host_resolver::network;
use common::error::{Error, Result};

/// `Retry-After` of a rejected request, in seconds.
const PAUSE: u64 = 1;

/// Counts requests in flight; clones share the counts. Memory use is bounded by the number of connections.
#[derive(Clone)]
pub struct ClientRequests(Arc<Counts>);

struct Counts {
    limit: usize,
    open: Mutex<HashMap<IpAddr, usize>>,
}

/// A request in flight, counted until this permit is dropped.
pub struct RequestPermit {
    requests: ClientRequests,
    address: IpAddr,
}

impl ClientRequests {
    /// Allows `limit` requests in flight per client network.
    pub fn new(limit: usize) -> Self {
        let open = Mutex::default();
        Self(Arc::new(Counts { limit, open }))
    }

    /// Acquires a permit for a request. Fails with [`Error::RateLimited`] when too many requests of this client are in
    /// flight.
    pub fn acquire(&self, client: IpAddr) -> Result<RequestPermit> {
        let address = network(client);
        let mut open = self.open();
        let count = open.get(&address).copied().unwrap_or_default();
        if count >= self.0.limit {
            drop(open);
            tracing::debug!(%address, "request rejected: too many requests in flight from this address");
            return Err(Error::RateLimited { retry_after: PAUSE });
        }
        open.insert(address, count + 1);
        drop(open);
        Ok(RequestPermit {
            requests: self.clone(),
            address,
        })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RequestPermit {
    fn drop(&mut self) {
        let mut open = self.requests.open();
        let left = open.get_mut(&self.address).map(|count| {
            *count -= 1;
            *count
        });
        if left == Some(0) {
            open.remove(&self.address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_limit_is_per_address_and_released() {
        let requests = ClientRequests::new(2);
        let address = |last| IpAddr::from([192, 0, 2, last]);
        let held = [requests.acquire(address(1)), requests.acquire(address(1))];
        assert!(held.iter().all(Result::is_ok));
        assert!(matches!(requests.acquire(address(1)), Err(Error::RateLimited { .. })));
        assert!(requests.acquire(address(2)).is_ok());
        drop(held);
        assert!(requests.open().is_empty());
        assert!(requests.acquire(address(1)).is_ok());
    }
}
