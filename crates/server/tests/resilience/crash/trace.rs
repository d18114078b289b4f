//! Parses the strace output of a running service: the calls of all threads in the order in which they began and ended.
//! Checks the order that is required before a response is sent.

use std::collections::HashMap;
use std::path::Path;

/// One system call of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The index of the output line at which the call began, and of the one at which it ended.
    pub began: usize,
    pub ended: usize,
    pub name: String,
    pub arguments: String,
    pub succeeded: bool,
}

/// Parses the output of `strace -f -y`.
pub fn read(text: &str) -> Vec<Call> {
    let mut open: HashMap<&str, (usize, String)> = HashMap::new();
    let mut calls = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some((thread, rest)) = line.split_once(' ') else {
            continue;
        };
        let rest = rest.trim_start();
        if let Some(begin) = rest.strip_suffix("<unfinished ...>") {
            open.insert(thread, (number, begin.trim_end().to_owned()));
            continue;
        }
        let (began, whole) = match rest.strip_prefix("<... ") {
            Some(resumed) => {
                let Some((began, begin)) = open.remove(thread) else {
                    continue;
                };
                let end = resumed.split_once("resumed>").map_or("", |(_, end)| end);
                (began, format!("{begin}{end}"))
            }
            None => (number, rest.to_owned()),
        };
        let (Some((name, rest)), Some((before, result))) = (whole.split_once('('), whole.rsplit_once(" = ")) else {
            continue;
        };
        let arguments = rest[..rest.len().min(before.len().saturating_sub(name.len() + 1))].trim_end();
        calls.push(Call {
            began,
            ended: number,
            name: name.to_owned(),
            arguments: arguments.strip_suffix(')').unwrap_or(arguments).to_owned(),
            succeeded: !result.trim_start().starts_with('-') && !result.trim_start().starts_with('?'),
        });
    }
    calls.sort_by_key(|call| call.began);
    calls
}

impl Call {
    /// Returns the path of the first argument, which is a descriptor such as `12</path>`.
    fn file(&self) -> Option<&str> {
        let (_, rest) = self.arguments.split_once('<')?;
        let end = rest.find('>')?;
        let before = self.arguments.find([',', '"']).unwrap_or(usize::MAX);
        (self.arguments.find('<')? < before).then_some(&rest[..end])
    }

    /// Returns the quoted strings.
    fn quoted(&self) -> Vec<&str> {
        self.arguments.split('"').skip(1).step_by(2).collect()
    }

    fn is_write(&self) -> bool {
        matches!(self.name.as_str(), "write" | "pwrite64" | "writev" | "pwritev")
    }

    fn syncs(&self, path: &str) -> bool {
        matches!(self.name.as_str(), "fsync" | "fdatasync") && self.succeeded && self.file() == Some(path)
    }

    /// Returns whether the call sends the first bytes of a successful response.
    pub fn is_response(&self) -> bool {
        let sends = matches!(self.name.as_str(), "write" | "writev" | "sendto" | "sendmsg");
        sends && self.arguments.contains("\"HTTP/1.1 20")
    }

    /// Returns whether the call receives a request that begins with `request`.
    pub fn receives(&self, request: &str) -> bool {
        let reads = matches!(self.name.as_str(), "read" | "readv" | "recvfrom" | "recvmsg");
        reads && self.arguments.contains(&format!("\"{request}"))
    }

    /// Returns the file that gets its permanent name, and the partial file that it was written as. The second is `None`
    /// for a hard link to stored bytes.
    fn stored_file(&self, files: &str) -> Option<(&str, Option<&str>)> {
        let quoted = self.quoted();
        let to = *quoted.last()?;
        if !self.succeeded || !to.starts_with(files) {
            return None;
        }
        match self.name.as_str() {
            "rename" | "renameat" | "renameat2" => Some((to, quoted.first().copied())),
            "link" | "linkat" => Some((to, None)),
            _ => None,
        }
    }
}

/// Checks that everything that one request stores is durable before its response is sent. Returns the number of stored
/// files, or an error that names what is not durable.
pub fn check_durable_before_response(calls: &[Call], files: &Path, has_wal: bool) -> Result<usize, String> {
    let answer = calls
        .iter()
        .rev()
        .find(|call| call.is_response())
        .ok_or("no answer left")?;
    let files = files.to_str().unwrap();
    let mut kept = 0;
    for storing in calls {
        let Some((file, part)) = storing.stored_file(files) else {
            continue;
        };
        kept += 1;
        if let Some(part) = part {
            let written = calls.iter().filter(|call| call.is_write() && call.file() == Some(part));
            let written = written
                .map(|call| call.ended)
                .max()
                .ok_or(format!("{part} was never written"))?;
            let is_synced = |call: &Call| call.syncs(part) && call.began > written && call.ended < storing.began;
            if !calls.iter().any(is_synced) {
                return Err(format!("{part} was not synced between its last write and its renaming"));
            }
        }
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let named = |call: &&Call| call.syncs(folder) && call.began > storing.ended && call.ended < answer.began;
        let named = calls.iter().find(named);
        let named = named.ok_or(format!("{folder} was not synced between {file} and the answer"))?;
        if !has_wal {
            continue;
        }
        let is_log = |call: &Call| call.file().is_some_and(|file| file.ends_with("-wal"));
        let mut rows = calls
            .iter()
            .filter(|call| call.is_write() && is_log(call) && call.began > named.ended);
        let is_synced = |call: &Call| {
            let is_sync = matches!(call.name.as_str(), "fsync" | "fdatasync");
            is_sync && call.succeeded && is_log(call) && call.ended < answer.began
        };
        let is_durable = rows.any(|row| calls.iter().any(|call| is_synced(call) && call.began > row.ended));
        if !is_durable {
            return Err(format!("no row was written and synced between {file} and the answer"));
        }
    }
    Ok(kept)
}

/// Uses the trace of a correct upload. The check must fail if one of its required calls is missing or too late.
#[test]
fn trace_check_detects_missing_or_late_sync() {
    const GOOD: &str = r#"7  write(9</d/files/parts/a.part>, "x"..., 262144) = 262144
7  fsync(9</d/files/parts/a.part>) = 0
7  rename("/d/files/parts/a.part", "/d/files/0f/a.txt") = 0
7  fsync(10</d/files/0f> <unfinished ...>
8  recvfrom(12<socket:[1]>, "GET /api/x HTTP/1.1", 8192, 0, NULL, NULL) = 19
7  <... fsync resumed>)                 = 0
9  pwrite64(5</d/groupwork.db-wal>, "r"..., 4096, 32) = 4096
9  fdatasync(5</d/groupwork.db-wal>) = 0
8  writev(12<socket:[1]>, [{iov_base="HTTP/1.1 201 Created\r\n"..., iov_len=99}], 1) = 99"#;
    let check = |text: &str| check_durable_before_response(&read(text), Path::new("/d/files"), true);
    assert_eq!(check(GOOD), Ok(1));
    let lines: Vec<&str> = GOOD.lines().collect();
    for missing in ["fsync(9", "fdatasync(5", "pwrite64(5", "writev(12"] {
        let rest: Vec<&str> = lines.iter().copied().filter(|line| !line.contains(missing)).collect();
        assert!(check(&rest.join("\n")).is_err(), "without {missing}");
    }
    let without_folder: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| !line.contains("fsync(10") && !line.contains("resumed"))
        .collect();
    assert!(check(&without_folder.join("\n")).is_err(), "without the folder");
    for (line, to) in [(1, 2), (2, 5), (5, 8), (7, 8), (0, 1)] {
        let mut late = lines.clone();
        let moved = late.remove(line);
        late.insert(to, moved);
        assert!(check(&late.join("\n")).is_err(), "line {line} after {to}");
    }
    assert!(check(&GOOD.replace("a.part>) = 0", "a.part>) = -1 EIO (Input/output error)")).is_err());
}
