//! Metrics of the process: rates, durations and sizes by kind, without names, addresses or ids. Every module may use
//! it; `http::metrics` exposes it on a separate address.

use std::sync::LazyLock;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Histogram buckets of durations in seconds: from a cached response to the timeout of a handler.
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

/// The metrics of this process.
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

/// The metrics of this process.
pub fn measures() -> &'static Measures {
    &MEASURES
}

impl Measures {
    /// Counts a response. `route` is the template, so that ids are no labels; `method` is one of a fixed list, so that
    /// clients cannot increase the number of label sets.
    pub fn answered(&self, method: &'static str, route: &str, status: u16, took: Duration) {
        let route = route.to_owned();
        let of_route = Route { route: route.clone() };
        self.requests.get_or_create(&Answered { method, route, status }).inc();
        self.durations.get_or_create(&of_route).observe(took.as_secs_f64());
    }

    /// Observes the duration of a database transaction, including the time in the queue. `kind` is `read` or `write`.
    pub fn database(&self, kind: &'static str, took: Duration) {
        self.database.get_or_create(&Kind { kind }).observe(took.as_secs_f64());
    }

    /// Counts a callback of the document server: `taken`, `refused`, or `again` (to be repeated).
    pub fn notice(&self, outcome: &'static str) {
        self.notices.get_or_create(&Outcome { outcome }).inc();
    }

    /// Observes the duration of a conversion: `made` or `failed`.
    pub fn conversion(&self, outcome: &'static str, took: Duration) {
        self.conversions
            .get_or_create(&Outcome { outcome })
            .observe(took.as_secs_f64());
    }

    /// Counts a log line that was dropped because stderr could not be written or did not keep up.
    pub fn log_line_dropped(&self) {
        self.log_lines_dropped.inc();
    }

    /// Registers all metrics. The registry shares the counters.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("http_requests", "HTTP requests", self.requests.clone());
        let help = "Time from the request head to the response head";
        registry.register_with_unit("http_request_duration", help, Unit::Seconds, self.durations.clone());
        let help = "Database transactions, including the time in the queue";
        registry.register_with_unit(
            "database_transaction_duration",
            help,
            Unit::Seconds,
            self.database.clone(),
        );
        let help = "Deprecated name of database_transaction_duration_seconds; removed in the next release";
        registry.register_with_unit("database_job_duration", help, Unit::Seconds, self.database.clone());
        registry.register(
            "docserver_callbacks",
            "Callbacks of the document server",
            self.notices.clone(),
        );
        let help = "Log lines that could not be written to stderr";
        registry.register("log_lines_dropped", help, self.log_lines_dropped.clone());
        let help = "Conversions by the document server";
        registry.register_with_unit("conversion_duration", help, Unit::Seconds, self.conversions.clone());
    }
}
