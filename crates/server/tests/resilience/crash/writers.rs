//! Four writers that run continuously. Each writes, submits, uploads, posts messages and has groups created, in its own
//! room. `workload.rs` implements the actions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use document_server_simulator::RunningSimulator;
use domain::document_kind::EditorKind;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::oracle::Oracle;
use super::workload::Writer;
use test_support::{Client, World, until};

#[derive(Clone, Copy, PartialEq, Eq)]
enum WriterSignal {
    Pause,
    Write,
    Stop,
}

/// The four writers.
pub struct Writers {
    signal: watch::Sender<WriterSignal>,
    busy: Arc<AtomicUsize>,
    tasks: Vec<JoinHandle<()>>,
    editor: EditorKind,
    teacher: Client,
}

impl Writers {
    /// Creates a group and a document for each writer. The writers wait for [`Self::resume`]. They are distributed over
    /// the instances in rotation.
    pub async fn start(
        bases: &[&str],
        editor: EditorKind,
        world: &World,
        document_server: &Arc<RunningSimulator>,
        oracle: &Arc<Oracle>,
        rng: &mut StdRng,
    ) -> Self {
        let (signal, _) = watch::channel(WriterSignal::Pause);
        let busy = Arc::new(AtomicUsize::new(0));
        let mut tasks = Vec::new();
        let people = [&world.ben, &world.cem, &world.dana, &world.eli];
        for (person, base) in people.into_iter().zip(bases.iter().cycle()) {
            let rng = StdRng::seed_from_u64(rng.next_u64());
            let mut writer = Writer::new(base, world, person, document_server, oracle, rng);
            writer.create_room().await;
            tasks.push(tokio::spawn(write(writer, signal.subscribe(), Arc::clone(&busy))));
        }
        oracle.assert_no_faults();
        Self {
            signal,
            busy,
            tasks,
            editor,
            teacher: Client::new(bases[0], Some(world.ada.cookie.clone())),
        }
    }

    /// Resumes the writers.
    pub fn resume(&self) {
        self.signal.send_replace(WriterSignal::Write);
    }

    /// Returns the number of writers with an action in progress.
    pub fn busy(&self) -> usize {
        self.busy.load(Ordering::SeqCst)
    }

    /// Pauses the writers and waits until their actions in progress end.
    pub async fn pause(&mut self) {
        self.signal.send_replace(WriterSignal::Pause);
        while self.busy() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(self.tasks.iter().all(|task| !task.is_finished()), "a writer gave up");
    }

    /// Reads the documents with acknowledged texts that were not checked yet, so that their files contain the commits of
    /// the built-in editor. The editor of a document server acknowledges what is in a file.
    pub async fn write_files(&self, oracle: &Oracle) {
        if self.editor == EditorKind::OnlyOffice {
            return;
        }
        let fresh = oracle.acknowledged().fresh.clone();
        for document in fresh {
            let download = format!("/workrooms/documents/{document}/download");
            until("the document is read", async || {
                let answer = self.teacher.request(reqwest::Method::GET, &download).send().await;
                answer.is_ok_and(|answer| answer.status() == 200)
            })
            .await;
        }
    }

    /// Stops the writers.
    pub async fn stop(&mut self) {
        self.signal.send_replace(WriterSignal::Stop);
        for task in self.tasks.drain(..) {
            task.await.unwrap();
        }
    }
}

async fn write(mut writer: Writer, mut signal: watch::Receiver<WriterSignal>, busy: Arc<AtomicUsize>) {
    loop {
        // The sender is dropped only if the test has already failed.
        let Ok(heard) = signal
            .wait_for(|signal| *signal != WriterSignal::Pause)
            .await
            .map(|signal| *signal)
        else {
            return;
        };
        if heard == WriterSignal::Stop {
            return;
        }
        busy.fetch_add(1, Ordering::SeqCst);
        // `pause` may have read the counter before this writer incremented it.
        if *signal.borrow() == WriterSignal::Write {
            let answered = writer.act().await;
            if answered.is_none() {
                writer.oracle.request_abandoned();
                // Limits the rate of requests while the service is not running.
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        busy.fetch_sub(1, Ordering::SeqCst);
    }
}
