//! A reverse proxy like those in front of several instances in production: it distributes new requests round-robin,
//! skips instances that are not ready, and retries a failed request once on another instance, whatever the method.
//! WebSockets are passed through. There are no sticky sessions.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue, TRANSFER_ENCODING, UPGRADE};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use reqwest::{Body, Client};
use tokio::io::copy_bidirectional;
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

/// The interval of readiness checks.
const EVERY: Duration = Duration::from_millis(150);
/// The timeout of a readiness check.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);
/// The timeout of [`Proxy::until`]: longer than any expected wait on a busy machine.
const LONG: Duration = super::WAIT_TIMEOUT;

/// A running proxy. It stops when dropped.
pub struct Proxy {
    /// `http://127.0.0.1:…`.
    pub base: String,
    shared: Arc<ProxyState>,
    _serving: AbortOnDropHandle<()>,
    asking: Mutex<Vec<AbortOnDropHandle<()>>>,
}

struct ProxyState {
    http: Client,
    instances: Mutex<Vec<Arc<Instance>>>,
    turn: AtomicUsize,
    retries: AtomicUsize,
    /// Failures that callers must not see: no reachable instance, or a 5xx response of the service.
    failures: Mutex<Vec<String>>,
}

struct Instance {
    base: String,
    is_ready: AtomicBool,
    answered: AtomicUsize,
    sockets: AtomicUsize,
}

impl Proxy {
    /// Starts the proxy without instances.
    pub async fn open() -> Self {
        let http = Client::builder()
            .no_proxy()
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        let shared = Arc::new(ProxyState {
            http,
            instances: Mutex::default(),
            turn: AtomicUsize::new(0),
            retries: AtomicUsize::new(0),
            failures: Mutex::default(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let serving = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Self {
            base,
            shared,
            _serving: AbortOnDropHandle::new(serving),
            asking: Mutex::default(),
        }
    }

    /// Adds an instance; it receives requests once it is ready.
    pub async fn add(&self, base: &str) {
        let instance = Arc::new(Instance {
            base: base.to_owned(),
            is_ready: AtomicBool::new(false),
            answered: AtomicUsize::new(0),
            sockets: AtomicUsize::new(0),
        });
        let watching = watch(self.shared.http.clone(), Arc::clone(&instance));
        self.asking
            .lock()
            .unwrap()
            .push(AbortOnDropHandle::new(tokio::spawn(watching)));
        self.shared.instances().push(instance);
        let last = self.shared.instances().len() - 1;
        self.until(last, true).await;
    }

    /// Waits until the proxy has detected that an instance is ready, or is not.
    pub async fn until(&self, at: usize, is_ready: bool) {
        let (instance, since) = (Arc::clone(&self.shared.instances()[at]), Instant::now());
        while instance.is_ready.load(Ordering::SeqCst) != is_ready {
            assert!(since.elapsed() < LONG, "{}: ready is not {is_ready}", instance.base);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Returns the number of requests that each instance has served.
    pub fn answered(&self) -> Vec<usize> {
        let instances = self.shared.instances();
        instances
            .iter()
            .map(|instance| instance.answered.load(Ordering::SeqCst))
            .collect()
    }

    /// Returns the number of open WebSockets to each instance.
    pub fn sockets(&self) -> Vec<usize> {
        let instances = self.shared.instances();
        instances
            .iter()
            .map(|instance| instance.sockets.load(Ordering::SeqCst))
            .collect()
    }

    /// Returns the number of retried requests.
    pub fn retries(&self) -> usize {
        self.shared.retries.load(Ordering::SeqCst)
    }

    /// Returns the requests that failed for their callers.
    pub fn failures(&self) -> Vec<String> {
        self.shared
            .failures
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl ProxyState {
    fn instances(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Instance>>> {
        self.instances.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Chooses the next ready instance other than the one already tried; if none is ready, any instance.
    fn choose(&self, tried: Option<&Arc<Instance>>) -> Option<Arc<Instance>> {
        let instances = self.instances();
        let others = instances
            .iter()
            .filter(|one| tried.is_none_or(|tried| !Arc::ptr_eq(one, tried)));
        let ready: Vec<_> = others
            .clone()
            .filter(|one| one.is_ready.load(Ordering::SeqCst))
            .collect();
        let all: Vec<_> = if ready.is_empty() { others.collect() } else { ready };
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let one = *all.get(turn % all.len().max(1))?;
        Some(Arc::clone(one))
    }

    fn failed(&self, what: String) {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    async fn pass(&self, peer: SocketAddr, mut request: Request<Incoming>) -> Response<Body> {
        let upgrading = request
            .headers()
            .contains_key(UPGRADE)
            .then(|| hyper::upgrade::on(&mut request));
        let (mut head, body) = request.into_parts();
        let Ok(body) = body.collect().await else {
            return plain(StatusCode::BAD_REQUEST);
        };
        let body = body.to_bytes();
        let peer = HeaderValue::try_from(peer.ip().to_string()).unwrap();
        head.headers.append("x-forwarded-for", peer);
        let what = format!("{} {}", head.method, head.uri.path());
        let mut tried = None;
        let mut reasons = Vec::new();
        for attempt in 0..2 {
            let Some(instance) = self.choose(tried.as_ref()) else {
                break;
            };
            if attempt > 0 {
                self.retries.fetch_add(1, Ordering::SeqCst);
            }
            match self.ask(&instance, &head, body.clone()).await {
                Ok(answer) => {
                    // A socket that is rejected temporarily reconnects without help of the proxy.
                    if answer.status().is_server_error() && upgrading.is_none() {
                        self.failed(format!("{what}: {} of {}", answer.status(), instance.base));
                    }
                    return hand_over(answer, upgrading, instance);
                }
                Err(error) => {
                    // Not ready until the next successful readiness check.
                    instance.is_ready.store(false, Ordering::SeqCst);
                    reasons.push(format!("{}: {error:?}", instance.base));
                    tried = Some(instance);
                }
            }
        }
        self.failed(format!("{what}: no answer: {}", reasons.join("; ")));
        plain(StatusCode::BAD_GATEWAY)
    }

    async fn ask(&self, instance: &Instance, head: &Parts, body: Bytes) -> reqwest::Result<reqwest::Response> {
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut headers = head.headers.clone();
        // The length of the body is known here.
        headers.remove(TRANSFER_ENCODING);
        if !headers.contains_key(UPGRADE) {
            headers.remove(CONNECTION);
        }
        let mut request = self
            .http
            .request(head.method.clone(), format!("{}{path}", instance.base));
        // These headers include the Host header of the client.
        request = request.headers(headers);
        if !body.is_empty() {
            request = request.body(body);
        }
        request.send().await
    }
}

/// Forwards a response; an upgraded WebSocket is passed through from then on.
fn hand_over(answer: reqwest::Response, upgrading: Option<OnUpgrade>, instance: Arc<Instance>) -> Response<Body> {
    instance.answered.fetch_add(1, Ordering::SeqCst);
    let switches = answer.status() == StatusCode::SWITCHING_PROTOCOLS;
    if let (true, Some(upgrading)) = (switches, upgrading) {
        let mut response = plain(StatusCode::SWITCHING_PROTOCOLS);
        response.headers_mut().clone_from(answer.headers());
        tokio::spawn(async move {
            let (Ok(client), Ok(mut server)) = tokio::join!(upgrading, answer.upgrade()) else {
                return;
            };
            instance.sockets.fetch_add(1, Ordering::SeqCst);
            // Either side may close the connection at any time.
            drop(copy_bidirectional(&mut TokioIo::new(client), &mut server).await);
            instance.sockets.fetch_sub(1, Ordering::SeqCst);
        });
        return response;
    }
    let mut response = Response::<Body>::from(answer);
    // Hop-by-hop headers of the connection behind the proxy.
    for own in [CONNECTION, TRANSFER_ENCODING] {
        response.headers_mut().remove(own);
    }
    response
}

fn plain(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::from(""));
    *response.status_mut() = status;
    response
}

async fn serve(listener: TcpListener, shared: Arc<ProxyState>) {
    while let Ok((stream, peer)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(|request| async { Ok::<_, Infallible>(shared.pass(peer, request).await) });
            let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            drop(serving.with_upgrades().await);
        });
    }
}

async fn watch(http: Client, instance: Arc<Instance>) {
    let url = format!("{}/api/health/ready", instance.base);
    loop {
        let answer = http.get(&url).timeout(WAIT_TIMEOUT).send().await;
        let is_ready = answer.is_ok_and(|answer| answer.status() == StatusCode::OK);
        instance.is_ready.store(is_ready, Ordering::SeqCst);
        tokio::time::sleep(EVERY).await;
    }
}
