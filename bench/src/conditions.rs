//! The machine and its load; figures are meaningless without them.

use std::path::Path;

/// Describes the machine, one item each.
pub fn describe(data: &Path) -> Vec<String> {
    let processors = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let profile = if cfg!(debug_assertions) {
        "**debug build: these figures are worthless**"
    } else {
        "release build"
    };
    vec![
        format!("{processors} processors: {}", processor()),
        format!("{} of memory", memory()),
        format!("Linux {}", first_line("/proc/sys/kernel/osrelease")),
        format!("data on {}", file_system(data)),
        format!("{profile}; the load comes from the same machine"),
    ]
}

/// Returns the current load averages.
pub fn load() -> String {
    first_line("/proc/loadavg")
        .split(' ')
        .take(2)
        .collect::<Vec<_>>()
        .join(" ")
}

fn first_line(path: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().next().unwrap_or("unknown").to_owned()
}

fn value_in(path: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn processor() -> String {
    value_in("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

fn memory() -> String {
    let kilobytes = value_in("/proc/meminfo", "MemTotal").and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    kilobytes.map_or("an unknown amount".to_owned(), |kilobytes| {
        format!("{} GiB", kilobytes >> 20)
    })
}

/// Returns the file system type of a folder: that of the mount point with the longest common path.
fn file_system(folder: &Path) -> String {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((words.next()?.to_owned(), words.next()?.to_owned()))
    });
    let below = mounts.filter(|(point, _)| folder.starts_with(point));
    below
        .max_by_key(|(point, _)| point.len())
        .map_or_else(|| "an unknown file system".to_owned(), |(_, kind)| kind)
}
