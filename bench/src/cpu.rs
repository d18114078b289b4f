//! CPU time and memory of other processes, as reported by the kernel.

use std::time::Duration;

use anyhow::Context as _;

/// The kernel counts in hundredths of a second; Linux guarantees this for user programs on every architecture we
/// support.
const TICK: Duration = Duration::from_millis(10);

/// Returns the user and system time of a process with all its threads.
pub fn used(process: u32) -> anyhow::Result<Duration> {
    let path = format!("/proc/{process}/stat");
    let text =
        std::fs::read_to_string(&path).with_context(|| format!("{path}: the CPU time is read from Linux's /proc"))?;
    read(&text).with_context(|| format!("{path} has another form: {text}"))
}

/// Returns the CPU time of several processes together.
pub fn used_by(processes: &[u32]) -> anyhow::Result<Duration> {
    processes.iter().map(|process| used(*process)).sum()
}

/// Returns the private resident memory of a process in bytes, without program text and mapped files.
pub fn memory(process: u32) -> anyhow::Result<u64> {
    let path = format!("/proc/{process}/status");
    let text = std::fs::read_to_string(&path).with_context(|| path.clone())?;
    anonymous(&text).with_context(|| format!("{path} has another form"))
}

fn anonymous(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

fn read(stat: &str) -> Option<Duration> {
    // The name of the program is in parentheses and may contain anything, including spaces and parentheses.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u32>().ok();
    Some(TICK * (ticks()? + ticks()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_parsed_after_unusual_program_name() {
        let stat = "17 (a b) c) S 1 17 17 0 -1 4194304 500 0 0 0 250 50 0 0 20 0 9 0 100 1 2 3";
        assert_eq!(read(stat), Some(Duration::from_secs(3)));
        assert_eq!(read("17 (short) S 1"), None);
    }

    #[test]
    fn memory_excludes_mapped_files() {
        assert_eq!(
            anonymous("VmRSS:\t 9 kB\nRssAnon:\t    2048 kB\nRssFile: 1 kB\n"),
            Some(2 << 20)
        );
        assert_eq!(anonymous("VmRSS:\t 9 kB\n"), None);
    }
}
