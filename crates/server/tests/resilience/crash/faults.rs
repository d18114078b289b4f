//! Makes what the started service does to its files go wrong: a small library between it and the C library (`shim.c`)
//! counts the calls of all threads in one line, and kills the process at one of them or lets it fail. strace can inject
//! faults, too, but counts each thread by itself and cannot tell a file from a socket.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;

use test_support::ServerEnv;

/// Calls, as `shim.c` numbers them.
pub const WRITE: u64 = 1;
pub const SYNC: u64 = 2;
pub const RENAME: u64 = 4;
pub const CREATE: u64 = 8;
pub const UNLINK: u64 = 16;
pub const TRUNCATE: u64 = 32;
pub const LINK: u64 = 64;
/// All but opening what is there.
pub const ALL: u64 = WRITE | SYNC | RENAME | CREATE | UNLINK | TRUNCATE | LINK;
/// What needs room.
pub const ROOM: u64 = WRITE | CREATE | TRUNCATE;

/// What happens at the wanted calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Nothing: they are counted.
    Count,
    /// SIGKILL instead of the call.
    Kill,
    /// EIO.
    Broken,
    /// ENOSPC.
    Full,
}

/// Where the fields of the plan are, as `shim.c` has them.
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

/// The plan that the service and the test have in common.
pub struct Faults {
    plan: File,
    _folder: tempfile::TempDir,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// How many calls were counted.
    pub seen: u64,
    /// How many of them were made to go wrong.
    pub fired: u64,
    /// The last of these, with the path below the folder.
    pub last: String,
}

impl Faults {
    /// Builds the library and puts it between every later start of the place and the C library.
    pub fn install(place: &mut ServerEnv) -> Self {
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
        place.set("LD_PRELOAD", library.to_str().unwrap());
        place.set("GROUPWORK_FAULTS", plan.to_str().unwrap());
        Self {
            plan: file,
            _folder: folder,
        }
    }

    /// From now on these kinds of calls below a path are counted, and from the `first` on `many` go wrong.
    pub fn arm(&self, path: &Path, kinds: u64, action: Action, first: u64, many: u64) {
        self.put(ARMED, 0);
        let mut root = path.to_str().unwrap().as_bytes().to_vec();
        root.push(0);
        self.plan.write_all_at(&root, ROOT).unwrap();
        self.plan.write_all_at(&[0], LAST).unwrap();
        let action = match action {
            Action::Count => 0,
            Action::Kill => u64::MAX,
            Action::Broken => 5,
            Action::Full => 28,
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

    /// Nothing goes wrong any more.
    pub fn disarm(&self) -> Outcome {
        self.put(ARMED, 0);
        let mut last = vec![0; 1024];
        self.plan.read_exact_at(&mut last, LAST).unwrap();
        last.truncate(last.iter().position(|byte| *byte == 0).unwrap_or(0));
        Outcome {
            seen: self.get(SEEN),
            fired: self.fired(),
            last: String::from_utf8_lossy(&last).into_owned(),
        }
    }

    /// How many calls were made to go wrong so far.
    pub fn fired(&self) -> u64 {
        self.get(FIRED)
    }

    /// How often a descriptor was synced again after its sync had failed: the second one would say yes and lie.
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
