//! What the service counts of itself, for whoever runs it: rates, durations and sizes by kind, never a name, an address or
//! an id of anybody. Every room may count; `http::metrics` shows it on an address of its own.

use std::sync::LazyLock;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Upper ends of the classes of durations, in seconds: from a cached answer to a handler's limit.
const SECONDS: [f64; 11] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10.0, 60.0];

type Durations<L> = Family<L, Histogram, fn() -> Histogram>;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

/// All counters of this process.
pub struct Measures {
    requests: Family<Answered, Counter>,
    durations: Durations<Route>,
    database: Durations<Kind>,
    notices: Family<Outcome, Counter>,
    conversions: Durations<Outcome>,
    log_lines_dropped: Counter,
}

static MEASURES: LazyLock<Measures> = LazyLock::new(|| Measures {
    requests: Family::default(),
    durations: Family::new_with_constructor(histogram),
    database: Family::new_with_constructor(histogram),
    notices: Family::default(),
    conversions: Family::new_with_constructor(histogram),
    log_lines_dropped: Counter::default(),
});

fn histogram() -> Histogram {
    Histogram::new(SECONDS)
}

/// The counters of this process.
pub fn measures() -> &'static Measures {
    &MEASURES
}

impl Measures {
    /// A request was answered. `route` is its template, so that no id becomes a label; `method` is one of a fixed list, so
    /// that no client can make the number of label sets grow.
    pub fn answered(&self, method: &'static str, route: &str, status: u16, took: Duration) {
        let route = route.to_owned();
        let of_route = Route { route: route.clone() };
        self.requests.get_or_create(&Answered { method, route, status }).inc();
        self.durations.get_or_create(&of_route).observe(took.as_secs_f64());
    }

    /// A job of the database is done, its waiting included. `kind` is `read` or `write`.
    pub fn database(&self, kind: &'static str, took: Duration) {
        self.database.get_or_create(&Kind { kind }).observe(took.as_secs_f64());
    }

    /// A notice of the document server was `taken`, `refused`, or is wanted `again`.
    pub fn notice(&self, outcome: &'static str) {
        self.notices.get_or_create(&Outcome { outcome }).inc();
    }

    /// A conversion is over: `made` or `failed`.
    pub fn conversion(&self, outcome: &'static str, took: Duration) {
        self.conversions
            .get_or_create(&Outcome { outcome })
            .observe(took.as_secs_f64());
    }

    /// A log line was dropped: stderr could not be written or did not keep up.
    pub fn log_line_dropped(&self) {
        self.log_lines_dropped.inc();
    }

    /// Names everything to a registry; the counters go on being the same ones.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("http_requests", "Requests answered", self.requests.clone());
        let help = "From the head of a request to the head of its answer";
        registry.register_with_unit("http_request_duration", help, Unit::Seconds, self.durations.clone());
        let help = "Reads and units of work, from asking to the answer";
        registry.register_with_unit("database_job_duration", help, Unit::Seconds, self.database.clone());
        registry.register(
            "docserver_callbacks",
            "Notices of the document server",
            self.notices.clone(),
        );
        let help = "Log lines that stderr did not take";
        registry.register("log_lines_dropped", help, self.log_lines_dropped.clone());
        let help = "Conversions to PDF by the document server";
        registry.register_with_unit("conversion_duration", help, Unit::Seconds, self.conversions.clone());
    }
}
