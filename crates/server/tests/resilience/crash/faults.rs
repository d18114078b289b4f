//! Injects faults into the file operations of the started service. A small preloaded library (`shim.c`) counts the
//! calls of all threads in one sequence and kills the process at one of them or makes the call fail. strace can inject
//! faults too, but it counts each thread separately and cannot distinguish a file from a socket.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;

use test_support::ServerEnv;

/// The kinds of calls, with the same numbers as in `shim.c`.
pub const WRITE: u64 = 1;
pub const SYNC: u64 = 2;
pub const RENAME: u64 = 4;
pub const CREATE: u64 = 8;
pub const UNLINK: u64 = 16;
pub const TRUNCATE: u64 = 32;
pub const LINK: u64 = 64;
/// Counts only the calls on the path itself, not those on paths that begin with it.
pub const EXACT: u64 = 256;
/// Every kind except opening an existing file.
pub const ALL: u64 = WRITE | SYNC | RENAME | CREATE | UNLINK | TRUNCATE | LINK;
/// The kinds that need free disk space.
pub const ROOM: u64 = WRITE | CREATE | TRUNCATE;

/// What happens at the selected calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultAction {
    /// The calls are only counted.
    Count,
    /// The process is killed with SIGKILL before the call.
    Kill,
    /// The call fails with EIO.
    Broken,
    /// The call fails with ENOSPC.
    Full,
}

/// The offsets of the plan's fields, as `shim.c` defines them.
const ARMED: u64 = 0;
const KINDS: u64 = 8;
const FIRST: u64 = 16;
const MANY: u64 = 24;
const SEEN: u64 = 32;
const FIRED: u64 = 40;
const SYNCED_AGAIN: u64 = 48;
const ACTION: u64 = 56;
const ROOT: u64 = 64;
const LAST: u64 = 64 + 960;
const SIZE: u64 = LAST + 1024;

/// The plan file that the service and the test share.
pub struct FaultPlan {
    plan: File,
    _folder: tempfile::TempDir,
}

/// What happened while the plan was armed.
#[derive(Debug)]
pub struct Outcome {
    /// The number of counted calls.
    pub seen: u64,
    /// The number of calls at which a fault was injected.
    pub fired: u64,
    /// The last of these calls, with the path relative to the root folder.
    pub last: String,
}

impl FaultPlan {
    /// Compiles the library and preloads it in every later start of `env`.
    pub fn install(env: &mut ServerEnv) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (library, plan) = (folder.path().join("shim.so"), folder.path().join("plan"));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/resilience/crash/shim.c");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&library)
            .arg(source)
            .arg("-ldl")
            .output()
            .expect("cc is there: the service is not built without it");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let mut open = OpenOptions::new();
        let file = open.read(true).write(true).create_new(true).open(&plan).unwrap();
        file.set_len(SIZE).unwrap();
        env.set("LD_PRELOAD", library.to_str().unwrap());
        env.set("GROUPWORK_FAULTS", plan.to_str().unwrap());
        Self {
            plan: file,
            _folder: folder,
        }
    }

    /// Starts to count calls of these kinds on paths that begin with `path`, and injects a fault at `many` calls from
    /// number `first` on.
    pub fn arm(&self, path: &Path, kinds: u64, action: FaultAction, first: u64, many: u64) {
        self.put(ARMED, 0);
        let mut root = path.to_str().unwrap().as_bytes().to_vec();
        root.push(0);
        self.plan.write_all_at(&root, ROOT).unwrap();
        self.plan.write_all_at(&[0], LAST).unwrap();
        let action = match action {
            FaultAction::Count => 0,
            FaultAction::Kill => u64::MAX,
            FaultAction::Broken => 5,
            FaultAction::Full => 28,
        };
        for (field, value) in [
            (KINDS, kinds),
            (FIRST, first),
            (MANY, many),
            (SEEN, 0),
            (FIRED, 0),
            (ACTION, action),
        ] {
            self.put(field, value);
        }
        self.put(ARMED, 1);
    }

    /// Stops the fault injection and returns what happened.
    pub fn disarm(&self) -> Outcome {
        self.put(ARMED, 0);
        let mut last = vec![0; 1024];
        self.plan.read_exact_at(&mut last, LAST).unwrap();
        last.truncate(last.iter().position(|byte| *byte == 0).unwrap_or(0));
        Outcome {
            seen: self.seen(),
            fired: self.fired(),
            last: String::from_utf8_lossy(&last).into_owned(),
        }
    }

    /// Returns the number of counted calls so far.
    pub fn seen(&self) -> u64 {
        self.get(SEEN)
    }

    /// Returns the number of calls at which a fault was injected so far.
    pub fn fired(&self) -> u64 {
        self.get(FIRED)
    }

    /// Returns how often a descriptor was synced again after its sync had failed. The second sync would report success
    /// although the data is lost.
    pub fn synced_again(&self) -> u64 {
        self.get(SYNCED_AGAIN)
    }

    fn put(&self, field: u64, value: u64) {
        self.plan.write_all_at(&value.to_ne_bytes(), field).unwrap();
    }

    fn get(&self, field: u64) -> u64 {
        let mut bytes = [0; 8];
        self.plan.read_exact_at(&mut bytes, field).unwrap();
        u64::from_ne_bytes(bytes)
    }
}
