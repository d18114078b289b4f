//! Periodic background work. The table of tasks is `server::background`; this module runs them: each has its own loop,
//! never overlaps with itself, is logged and measured when it fails, and ends with the scheduler.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::error::Result;
use super::metrics::metrics;

/// When the next round of a task starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// After the interval.
    Wait,
    /// At once, because more work is due.
    Immediately,
    /// After this time.
    After(Duration),
    /// After twice the previous pause, like after an error.
    BackOff,
    /// Never.
    Stop,
}

impl From<()> for Next {
    fn from((): ()) -> Self {
        Self::Wait
    }
}

/// A periodic task.
pub struct Task {
    name: &'static str,
    interval: Duration,
    first_delay: Duration,
    /// The longest pause after errors.
    pause_max: Duration,
    wake: Option<Arc<Notify>>,
    run: Box<dyn Fn() -> BoxFuture<'static, Result<Next>> + Send + Sync>,
}

impl Task {
    /// A task whose rounds start one interval after the end of the previous one. Each round receives a clone of `state`.
    pub fn new<S, F, N>(
        name: &'static str,
        interval: Duration,
        state: S,
        run: impl Fn(S) -> F + Send + Sync + 'static,
    ) -> Self
    where
        S: Clone + Send + Sync + 'static,
        F: Future<Output = Result<N>> + Send + 'static,
        N: Into<Next>,
    {
        Self {
            name,
            interval,
            first_delay: interval,
            pause_max: interval,
            wake: None,
            run: Box::new(move || run(state.clone()).map(|outcome| outcome.map(Into::into)).boxed()),
        }
    }

    /// Sets the delay before the first round; it is the interval otherwise.
    #[must_use]
    pub fn first_after(mut self, delay: Duration) -> Self {
        self.first_delay = delay;
        self
    }

    /// Doubles the pause after each failed round, up to this one.
    #[must_use]
    pub fn backing_off_to(mut self, pause_max: Duration) -> Self {
        self.pause_max = pause_max;
        self
    }

    /// Ends the pause when notified.
    #[must_use]
    pub fn woken_by(mut self, wake: Arc<Notify>) -> Self {
        self.wake = Some(wake);
        self
    }

    async fn run_periodically(self) {
        self.pause(self.first_delay).await;
        let mut pause = self.interval;
        loop {
            let next = self.run_once().await;
            match self.pause_before(next, pause) {
                Some(next_pause) => pause = next_pause,
                None => return,
            }
            self.pause(pause).await;
        }
    }

    /// Returns the pause before the next round, unless there is none.
    fn pause_before(&self, next: Next, previous: Duration) -> Option<Duration> {
        match next {
            Next::Wait => Some(self.interval),
            Next::Immediately => Some(Duration::ZERO),
            Next::After(pause) => Some(pause),
            Next::BackOff => Some((previous * 2).clamp(self.interval, self.pause_max)),
            Next::Stop => None,
        }
    }

    async fn run_once(&self) -> Next {
        let started_at = Instant::now();
        let outcome = AssertUnwindSafe((self.run)()).catch_unwind().await;
        let is_done = matches!(outcome, Ok(Ok(_)));
        metrics().record_task(self.name, if is_done { "done" } else { "failed" }, started_at.elapsed());
        match outcome {
            Ok(Ok(next)) => next,
            Ok(Err(error)) => {
                tracing::warn!(task = self.name, error = format!("{error:?}"), "background task failed");
                Next::BackOff
            }
            Err(_) => {
                tracing::error!(task = self.name, "background task panicked");
                Next::BackOff
            }
        }
    }

    async fn pause(&self, pause: Duration) {
        match &self.wake {
            None => tokio::time::sleep(pause).await,
            Some(wake) => drop(tokio::time::timeout(pause, wake.notified()).await),
        }
    }
}

/// The running tasks of an instance; they are aborted when it is dropped.
#[derive(Default)]
pub struct Scheduler(JoinSet<()>);

impl Scheduler {
    /// Starts these tasks.
    pub fn start(tasks: impl IntoIterator<Item = Task>) -> Self {
        let mut scheduler = Self::default();
        for task in tasks {
            scheduler.spawn(task.run_periodically());
        }
        scheduler
    }

    /// Runs a future that waits for events instead of time, and aborts it with the tasks.
    pub fn spawn(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(work);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::error::Error;

    const SECOND: Duration = Duration::from_secs(1);
    const SHORT: Duration = Duration::from_millis(1);

    fn idle(interval: Duration) -> Task {
        Task::new("test", interval, (), |()| async { Ok(()) })
    }

    #[test]
    fn round_chooses_the_pause_before_the_next_one() {
        let task = idle(SECOND);
        assert_eq!(task.pause_before(Next::Wait, SECOND * 9), Some(SECOND));
        assert_eq!(task.pause_before(Next::Immediately, SECOND), Some(Duration::ZERO));
        assert_eq!(task.pause_before(Next::After(SECOND * 5), SECOND), Some(SECOND * 5));
        assert_eq!(task.pause_before(Next::Stop, SECOND), None);
    }

    #[test]
    fn pause_grows_with_each_failed_round_up_to_its_limit() {
        let pauses = |task: &Task| {
            let mut pause = task.interval;
            [(); 4].map(|()| {
                pause = task.pause_before(Next::BackOff, pause).unwrap_or_default();
                pause.as_secs()
            })
        };
        assert_eq!(pauses(&idle(SECOND)), [1, 1, 1, 1]);
        assert_eq!(pauses(&idle(SECOND).backing_off_to(SECOND * 6)), [2, 4, 6, 6]);
        let after_full_round = idle(SECOND)
            .backing_off_to(SECOND * 6)
            .pause_before(Next::BackOff, Duration::ZERO);
        assert_eq!(after_full_round, Some(SECOND));
    }

    #[tokio::test]
    async fn error_and_panic_in_a_round_do_not_end_the_task() {
        let rounds = Arc::new(AtomicUsize::new(0));
        let task = Task::new("test", SHORT, Arc::clone(&rounds), |rounds| async move {
            match rounds.fetch_add(1, Ordering::SeqCst) {
                0 => panic!("the first round"),
                1 => Err(Error::NotReady),
                _ => Ok(Next::Stop),
            }
        });
        task.run_periodically().await;
        assert_eq!(rounds.load(Ordering::SeqCst), 3);
    }

    #[tokio::test]
    async fn notification_ends_the_pause() {
        let wake = Arc::new(Notify::new());
        wake.notify_one();
        let task = Task::new("test", SECOND * 3_600, (), |()| async { Ok(Next::Stop) });
        task.woken_by(wake).run_periodically().await;
    }

    #[tokio::test]
    async fn dropped_scheduler_ends_its_tasks() {
        let alive = Arc::new(());
        let task = Task::new("test", SHORT, Arc::clone(&alive), |_| async { Ok(()) });
        let scheduler = Scheduler::start([task]);
        assert_eq!(Arc::strong_count(&alive), 2);
        drop(scheduler);
        while Arc::strong_count(&alive) > 1 {
            tokio::task::yield_now().await;
        }
    }
}
