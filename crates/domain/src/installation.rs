//! Checks whether a database and a file storage belong to the same installation, and how many files without rows a
//! cleanup may treat as leftovers of crashes rather than as a sign of a wrong database.

/// Number of files referenced by rows that are looked up in a storage without a marker.
pub const SAMPLED_FILES: usize = 20;
/// Number of orphaned files that a cleanup always accepts. A crash leaves at most as many as there were concurrent
/// uploads.
pub const ORPHANS_ALWAYS: usize = 20;
/// Number of orphaned files above which a cleanup always stops, however large the storage is.
pub const ORPHANS_MAX: usize = 1_000;
/// Above [`ORPHANS_ALWAYS`], at most one in this many files may be orphaned.
pub const ORPHANS_SHARE: usize = 10;

/// Contents of a storage without a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StorageContents {
    /// Whether rows of the database reference any file.
    pub has_named_files: bool,
    /// Whether at least one of the sampled files exists in the storage.
    pub has_sampled_file: bool,
    /// Whether the storage contains no file at all.
    pub is_empty: bool,
}

/// Result of comparing a storage with a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageMatch {
    /// The marker of the storage equals the one recorded in the database.
    Same,
    /// The storage has no marker but belongs to the database: the marker has to be written.
    Adopt,
    /// The storage must not be used with this database.
    Refuse(StorageMismatch),
}

/// Why a storage must not be used with a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageMismatch {
    /// It has the marker of another installation.
    OtherInstallation,
    /// It has no marker and none of the sampled files.
    FilesMissing,
    /// It has no marker, and it contains files although the database references none.
    UnknownFiles,
}

/// Compares the marker of a storage with the one recorded in the database. `contents` only matters if the storage has
/// no marker.
pub fn match_storage(recorded: Option<&str>, marker: Option<&str>, contents: StorageContents) -> StorageMatch {
    match marker {
        Some(marker) if recorded == Some(marker) => StorageMatch::Same,
        Some(_) => StorageMatch::Refuse(StorageMismatch::OtherInstallation),
        None if contents.has_sampled_file => StorageMatch::Adopt,
        None if contents.has_named_files => StorageMatch::Refuse(StorageMismatch::FilesMissing),
        None if contents.is_empty => StorageMatch::Adopt,
        None => StorageMatch::Refuse(StorageMismatch::UnknownFiles),
    }
}

/// Returns whether a cleanup may quarantine `orphans` of `files` files. With a wrong or empty database nearly all files
/// are orphaned; after a crash only few are.
pub fn may_quarantine(orphans: usize, files: usize) -> bool {
    orphans <= ORPHANS_ALWAYS || (orphans <= ORPHANS_MAX && orphans.saturating_mul(ORPHANS_SHARE) <= files)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: StorageContents = StorageContents {
        has_named_files: false,
        has_sampled_file: false,
        is_empty: true,
    };

    #[test]
    fn marker_that_differs_from_the_database_is_refused() {
        let refused = StorageMatch::Refuse(StorageMismatch::OtherInstallation);
        assert_eq!(match_storage(Some("a"), Some("a"), EMPTY), StorageMatch::Same);
        assert_eq!(match_storage(Some("a"), Some("b"), EMPTY), refused);
        assert_eq!(match_storage(None, Some("b"), EMPTY), refused);
        let known = StorageContents {
            has_named_files: true,
            has_sampled_file: true,
            is_empty: false,
        };
        assert_eq!(match_storage(Some("a"), Some("b"), known), refused);
    }

    #[test]
    fn storage_without_marker_is_adopted_only_when_it_fits() {
        for recorded in [None, Some("a")] {
            for bits in 0..8_u8 {
                let contents = StorageContents {
                    has_named_files: bits & 1 != 0,
                    has_sampled_file: bits & 2 != 0,
                    is_empty: bits & 4 != 0,
                };
                let expected = match (contents.has_sampled_file, contents.has_named_files, contents.is_empty) {
                    (true, _, _) | (false, false, true) => StorageMatch::Adopt,
                    (false, true, _) => StorageMatch::Refuse(StorageMismatch::FilesMissing),
                    (false, false, false) => StorageMatch::Refuse(StorageMismatch::UnknownFiles),
                };
                assert_eq!(match_storage(recorded, None, contents), expected, "{contents:?}");
            }
        }
    }

    #[test]
    fn sweep_is_bounded_by_number_and_share() {
        for (orphans, files, expected) in [
            (0, 0, true),
            (20, 20, true),
            (21, 21, false),
            (21, 209, false),
            (21, 210, true),
            (1_000, 10_000, true),
            (1_000, 9_999, false),
            (1_001, 1_000_000, false),
            (usize::MAX, usize::MAX, false),
        ] {
            assert_eq!(may_quarantine(orphans, files), expected, "{orphans} of {files}");
        }
    }
}
