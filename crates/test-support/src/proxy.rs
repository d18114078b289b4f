//! A reverse proxy as schools put before several instances: new requests go round, an instance that is not ready gets
//! none, and what found no answer is asked once more elsewhere, whatever the method. WebSockets are passed through.
//! Nobody is bound to an instance.

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

/// How often an instance is asked whether it is ready.
const EVERY: Duration = Duration::from_millis(150);
/// How long its answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longer than anything that must happen takes on a busy machine.
const LONG: Duration = super::PATIENCE;

/// A running proxy. It ends when dropped.
pub struct Proxy {
    /// `http://127.0.0.1:…`.
    pub base: String,
    shared: Arc<Shared>,
    _serving: AbortOnDropHandle<()>,
    asking: Mutex<Vec<AbortOnDropHandle<()>>>,
}

struct Shared {
    http: Client,
    instances: Mutex<Vec<Arc<Instance>>>,
    turn: AtomicUsize,
    retries: AtomicUsize,
    /// What no caller should see: no answer anywhere, or a fault of the service.
    failures: Mutex<Vec<String>>,
}

struct Instance {
    base: String,
    is_ready: AtomicBool,
    answered: AtomicUsize,
    sockets: AtomicUsize,
}

impl Proxy {
    /// Listens; there is nobody to ask yet.
    pub async fn open() -> Self {
        let http = Client::builder()
            .no_proxy()
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        let shared = Arc::new(Shared {
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

    /// From now on this instance is asked as well, once it is ready.
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

    /// Waits until the proxy knows that an instance is ready, or is not.
    pub async fn until(&self, at: usize, is_ready: bool) {
        let (instance, since) = (Arc::clone(&self.shared.instances()[at]), Instant::now());
        while instance.is_ready.load(Ordering::SeqCst) != is_ready {
            assert!(since.elapsed() < LONG, "{}: ready is not {is_ready}", instance.base);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// How many requests each instance has answered.
    pub fn answered(&self) -> Vec<usize> {
        let instances = self.shared.instances();
        instances
            .iter()
            .map(|instance| instance.answered.load(Ordering::SeqCst))
            .collect()
    }

    /// How many WebSockets go through to each instance.
    pub fn sockets(&self) -> Vec<usize> {
        let instances = self.shared.instances();
        instances
            .iter()
            .map(|instance| instance.sockets.load(Ordering::SeqCst))
            .collect()
    }

    /// How many requests were asked a second time.
    pub fn retries(&self) -> usize {
        self.shared.retries.load(Ordering::SeqCst)
    }

    /// Requests that failed for their callers.
    pub fn failures(&self) -> Vec<String> {
        self.shared
            .failures
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Shared {
    fn instances(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Instance>>> {
        self.instances.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next ready instance, another one than was tried already; when none is ready, any.
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
                    // A socket that is told to come later does so by itself.
                    if answer.status().is_server_error() && upgrading.is_none() {
                        self.failed(format!("{what}: {} of {}", answer.status(), instance.base));
                    }
                    return hand_over(answer, upgrading, instance);
                }
                Err(error) => {
                    // Until it says again that it is ready.
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
        // The Host of the client is among them.
        request = request.headers(headers);
        if !body.is_empty() {
            request = request.body(body);
        }
        request.send().await
    }
}

/// Gives an answer on; what became a WebSocket is passed through from then on.
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
            // Either side may hang up at any time.
            drop(copy_bidirectional(&mut TokioIo::new(client), &mut server).await);
            instance.sockets.fetch_sub(1, Ordering::SeqCst);
        });
        return response;
    }
    let mut response = Response::<Body>::from(answer);
    // They were about the connection behind the proxy.
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

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
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
        let answer = http.get(&url).timeout(PATIENCE).send().await;
        let is_ready = answer.is_ok_and(|answer| answer.status() == StatusCode::OK);
        instance.is_ready.store(is_ready, Ordering::SeqCst);
        tokio::time::sleep(EVERY).await;
    }
}
