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
const SECONDS: [f64; 15] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
];

type Durations<L> = Family<L, Histogram, fn() -> Histogram>;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabel {
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabel {
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabel {
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TaskLabels {
    task: &'static str,
    outcome: &'static str,
}

/// The metrics of this process.
pub struct Metrics {
    requests: Family<RequestLabels, Counter>,
    durations: Durations<RouteLabel>,
    transactions: Durations<KindLabel>,
    callbacks: Family<OutcomeLabel, Counter>,
    conversions: Durations<OutcomeLabel>,
    emails: Family<OutcomeLabel, Counter>,
    roster_runs: Family<OutcomeLabel, Counter>,
    tasks: Durations<TaskLabels>,
    log_lines_dropped: Counter,
}

static METRICS: LazyLock<Metrics> = LazyLock::new(|| Metrics {
    requests: Family::default(),
    durations: Family::new_with_constructor(histogram),
    transactions: Family::new_with_constructor(histogram),
    callbacks: Family::default(),
    conversions: Family::new_with_constructor(histogram),
    emails: Family::default(),
    roster_runs: Family::default(),
    tasks: Family::new_with_constructor(histogram),
    log_lines_dropped: Counter::default(),
});

fn histogram() -> Histogram {
    Histogram::new(SECONDS)
}

/// The metrics of this process.
pub fn metrics() -> &'static Metrics {
    &METRICS
}

impl Metrics {
    /// Counts a response. `route` is the template, so that ids are no labels; `method` is one of a fixed list, so that
    /// clients cannot increase the number of label sets.
    pub fn record_request(&self, method: &'static str, route: &str, status: u16, elapsed: Duration) {
        let route = route.to_owned();
        let route_label = RouteLabel { route: route.clone() };
        self.requests
            .get_or_create(&RequestLabels { method, route, status })
            .inc();
        self.durations
            .get_or_create(&route_label)
            .observe(elapsed.as_secs_f64());
    }

    /// Observes the duration of a database transaction, including the time in the queue. `kind` is `read` or `write`.
    pub fn record_transaction(&self, kind: &'static str, elapsed: Duration) {
        self.transactions
            .get_or_create(&KindLabel { kind })
            .observe(elapsed.as_secs_f64());
    }

    /// Counts a callback of the document server: `taken`, `refused`, or `again` (to be repeated).
    pub fn record_callback(&self, outcome: &'static str) {
        self.callbacks.get_or_create(&OutcomeLabel { outcome }).inc();
    }

    /// Observes the duration of a conversion: `made` or `failed`.
    pub fn record_conversion(&self, outcome: &'static str, elapsed: Duration) {
        self.conversions
            .get_or_create(&OutcomeLabel { outcome })
            .observe(elapsed.as_secs_f64());
    }

    /// Counts an attempt to send an email: `sent`, `deferred`, `rejected`, or `unavailable` (no SMTP server).
    pub fn record_email(&self, outcome: &'static str) {
        self.emails.get_or_create(&OutcomeLabel { outcome }).inc();
    }

    /// Counts a run of a roster: `done`, `waiting`, `failed` or `interrupted`.
    pub fn record_roster_run(&self, outcome: &'static str) {
        self.roster_runs.get_or_create(&OutcomeLabel { outcome }).inc();
    }

    /// Observes a round of a background task: `done` or `failed`.
    pub fn record_task(&self, task: &'static str, outcome: &'static str, elapsed: Duration) {
        self.tasks
            .get_or_create(&TaskLabels { task, outcome })
            .observe(elapsed.as_secs_f64());
    }

    /// Counts a log line that was dropped because stderr could not be written or did not keep up.
    pub fn record_dropped_log_line(&self) {
        self.log_lines_dropped.inc();
    }

    /// Registers all metrics. The registry shares the counters.
    pub fn register(&self, registry: &mut Registry) {
        self.register_shared(registry);
        registry.register("email_deliveries", "Attempts to send an email", self.emails.clone());
        registry.register("roster_runs", "Runs of rosters", self.roster_runs.clone());
    }

    /// Registers the metrics of the previous release under the names that it used.
    pub fn register_old_names(&self, registry: &mut Registry) {
        self.register_shared(registry);
        let help = "Deprecated name of groupwork_database_transaction_duration_seconds; removed in the next release";
        registry.register_with_unit("database_job_duration", help, Unit::Seconds, self.transactions.clone());
    }

    fn register_shared(&self, registry: &mut Registry) {
        registry.register("http_requests", "HTTP requests", self.requests.clone());
        let help = "Time from the request head to the response head";
        registry.register_with_unit("http_request_duration", help, Unit::Seconds, self.durations.clone());
        let help = "Database transactions, including the time in the queue";
        registry.register_with_unit(
            "database_transaction_duration",
            help,
            Unit::Seconds,
            self.transactions.clone(),
        );
        registry.register(
            "docserver_callbacks",
            "Callbacks of the document server",
            self.callbacks.clone(),
        );
        let help = "Log lines that could not be written to stderr";
        registry.register("log_lines_dropped", help, self.log_lines_dropped.clone());
        let help = "Conversions by the document server";
        registry.register_with_unit("conversion_duration", help, Unit::Seconds, self.conversions.clone());
        let help = "Rounds of background tasks";
        registry.register_with_unit("background_task_duration", help, Unit::Seconds, self.tasks.clone());
    }
}
