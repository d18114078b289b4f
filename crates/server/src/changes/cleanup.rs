//! The files that go with a change.

use model::change::Change;
use model::file::FileKey;

/// Files nobody names any more.
pub fn removed_files(_: &Change) -> &[FileKey] {
    &[]
}
