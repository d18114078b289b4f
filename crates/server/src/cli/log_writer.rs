//! Log output: a bounded queue in front of stderr, drained by a separate thread. A request never waits for stderr and
//! never fails because of it: a line that does not fit into the queue or cannot be written is dropped and counted.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

use common::metrics::metrics;

/// The capacity of the queue in bytes.
const QUEUE_BYTES: usize = 4 << 20;
/// The maximum length of a line in bytes; longer lines quote untrusted input.
const LINE_MAX: usize = 32 << 10;
/// The end of a truncated line.
const TRUNCATED: &[u8] = b" [cut]\n";
/// The delay before a retry while a non-blocking stderr is not writable.
const RETRY: Duration = Duration::from_millis(20);

/// Queues log lines. Clones share the queue.
#[derive(Clone)]
pub struct LogWriter(Arc<LogQueue>);

struct LogQueue {
    state: Mutex<LogQueueState>,
    /// Notified when a line was queued and when the queue was drained.
    changed: Condvar,
}

#[derive(Default)]
struct LogQueueState {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    is_writing: bool,
}

impl LogWriter {
    /// Starts the thread that writes to `output`.
    pub fn start(output: impl Write + Send + 'static) -> io::Result<Self> {
        let writer = Self(Arc::new(LogQueue {
            state: Mutex::default(),
            changed: Condvar::new(),
        }));
        let queue = Arc::clone(&writer.0);
        std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || queue.write_to(Output::new(output)))?;
        Ok(writer)
    }

    /// Waits until all queued lines were written or dropped, but no longer than `limit`.
    pub fn flush(&self, limit: Duration) {
        let state = self.0.lock();
        let is_busy = |state: &mut LogQueueState| state.is_writing || !state.lines.is_empty();
        drop(self.0.changed.wait_timeout_while(state, limit, is_busy));
    }

    fn enqueue(&self, line: &[u8]) {
        let line = if line.len() > LINE_MAX {
            [&line[..LINE_MAX - TRUNCATED.len()], TRUNCATED].concat()
        } else {
            line.to_owned()
        };
        let mut state = self.0.lock();
        if state.bytes + line.len() > QUEUE_BYTES {
            drop(state);
            return metrics().record_dropped_log_line();
        }
        state.bytes += line.len();
        state.lines.push_back(line);
        drop(state);
        self.0.changed.notify_all();
    }
}

impl LogQueue {
    fn lock(&self) -> MutexGuard<'_, LogQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_to(&self, mut output: Output<impl Write>) {
        loop {
            let mut state = self.lock();
            while state.lines.is_empty() {
                state.is_writing = false;
                self.changed.notify_all();
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.is_writing = true;
            let line = state.lines.pop_front().unwrap_or_default();
            drop(state);
            if !output.write_line(&line) {
                metrics().record_dropped_log_line();
            }
            // Released only now, because a line that is being written still uses memory.
            self.lock().bytes -= line.len();
        }
    }
}

/// The output of the thread.
struct Output<W> {
    inner: W,
    /// Whether the last line was written only partly.
    is_torn: bool,
}

impl<W: Write> Output<W> {
    fn new(inner: W) -> Self {
        Self { inner, is_torn: false }
    }

    /// Writes one line; returns false if it could not be written completely.
    fn write_line(&mut self, line: &[u8]) -> bool {
        if self.is_torn && self.write(b"\n").is_err() {
            return false;
        }
        self.is_torn = false;
        match self.write(line) {
            Ok(()) => true,
            Err(written) => {
                self.is_torn = written > 0;
                false
            }
        }
    }

    /// Writes all bytes; the error contains how many were written.
    fn write(&mut self, bytes: &[u8]) -> Result<(), usize> {
        let mut written = 0;
        while written < bytes.len() {
            match self.inner.write(&bytes[written..]) {
                Ok(0) => return Err(written),
                Ok(count) => written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(RETRY),
                Err(_) => return Err(written),
            }
        }
        Ok(())
    }
}

/// Queues one formatted line. Writes cannot fail.
pub struct LogLine<'w>(&'w LogWriter);

impl Write for LogLine<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.enqueue(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for LogWriter {
    type Writer = LogLine<'w>;

    fn make_writer(&'w self) -> LogLine<'w> {
        LogLine(self)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use super::*;

    const LONG: Duration = Duration::from_mins(1);

    /// Sends bytes to a channel without capacity: a write blocks until the test receives.
    struct Blocking(SyncSender<Vec<u8>>);

    impl Write for Blocking {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.to_owned()).map_err(|_| ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn blocked() -> (LogWriter, Receiver<Vec<u8>>) {
        let (sender, receiver) = sync_channel(0);
        (LogWriter::start(Blocking(sender)).unwrap(), receiver)
    }

    #[test]
    fn log_lines_are_written_in_order() {
        let (writer, received) = blocked();
        for number in 0..100 {
            writer
                .make_writer()
                .write_all(format!("{number}\n").as_bytes())
                .unwrap();
        }
        for number in 0..100 {
            assert_eq!(received.recv().unwrap(), format!("{number}\n").as_bytes());
        }
        writer.flush(LONG);
        assert_eq!(writer.0.lock().bytes, 0);
    }

    #[test]
    fn long_log_line_is_truncated() {
        let (writer, received) = blocked();
        writer.make_writer().write_all(&vec![b'x'; 1 << 20]).unwrap();
        let line = received.recv().unwrap();
        assert!(line.len() == LINE_MAX && line.ends_with(b"x [cut]\n"));
    }

    #[test]
    fn log_queue_is_bounded_while_output_blocks() {
        let (writer, received) = blocked();
        let line = vec![b'x'; LINE_MAX];
        for _ in 0..1000 {
            writer.make_writer().write_all(&line).unwrap();
        }
        let queued = writer.0.lock().bytes;
        assert!(
            queued <= QUEUE_BYTES && queued > QUEUE_BYTES - line.len() * 2,
            "{queued}"
        );
        drop(received);
        writer.flush(LONG);
        assert_eq!(writer.0.lock().bytes, 0, "what cannot be written is dropped");
    }

    #[test]
    fn partial_log_line_is_ended_before_the_next() {
        /// Accepts three bytes at first.
        struct Full(Vec<u8>, usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                let count = bytes.len().min(self.1 - self.0.len());
                if count == 0 {
                    return Err(ErrorKind::StorageFull.into());
                }
                self.0.extend(&bytes[..count]);
                Ok(count)
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut output = Output::new(Full(Vec::new(), 3));
        assert!(!output.write_line(b"first\n"));
        assert!(!output.write_line(b"second\n"));
        output.inner.1 = 100;
        assert!(output.write_line(b"third\n"));
        assert_eq!(output.inner.0, b"fir\nthird\n");
    }
}
