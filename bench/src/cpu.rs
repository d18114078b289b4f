//! The CPU time of another process, as the kernel counts it.

use std::time::Duration;

use anyhow::Context as _;

/// The kernel counts in hundredths of a second; Linux promises that to user programs on every architecture we run on.
const TICK: Duration = Duration::from_millis(10);

/// User and system time of the process with all its threads so far.
pub fn used(process: u32) -> anyhow::Result<Duration> {
    let path = format!("/proc/{process}/stat");
    let text =
        std::fs::read_to_string(&path).with_context(|| format!("{path}: the CPU time is read from Linux's /proc"))?;
    read(&text).with_context(|| format!("{path} has another form: {text}"))
}

fn read(stat: &str) -> Option<Duration> {
    // The name of the program stands in brackets and may hold anything, spaces and brackets included.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u32>().ok();
    Some(TICK * (ticks()? + ticks()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_found_behind_a_strange_name() {
        let stat = "17 (a b) c) S 1 17 17 0 -1 4194304 500 0 0 0 250 50 0 0 20 0 9 0 100 1 2 3";
        assert_eq!(read(stat), Some(Duration::from_secs(3)));
        assert_eq!(read("17 (short) S 1"), None);
    }
}
