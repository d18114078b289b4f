//! One school as an archive: exported out of one installation, and imported into another. See
//! docs/moving-a-school.md.

mod export;
mod format;
mod import;
mod read;

pub use self::export::{ExportSummary, export};
pub use self::format::{SchoolHeader, SchoolManifest};
pub use self::import::{COMMAND, ImportOptions, import};
pub use self::read::{SchoolArchive, verify};
