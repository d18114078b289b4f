//! Limits of the files that are read.

/// What a file may contain at most. The service checks the same limits of archives when it stores a file.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Entries of the archive.
    pub entries: usize,
    /// Decompressed bytes of all parts.
    pub inflated_bytes: u64,
    /// Decompressed bytes per compressed byte, above [`Limits::RATIO_EXEMPT_BYTES`].
    pub ratio: u64,
    /// Decompressed bytes of a part that is parsed.
    pub part_bytes: u64,
    /// Elements of a part.
    pub elements: usize,
    /// Nesting of elements.
    pub depth: usize,
    /// Bytes of one start tag.
    pub tag_bytes: usize,
    /// Attributes of one element.
    pub attributes: usize,
    /// The size of the rich text: characters in UTF-16, and the beginning and the end of nodes. The schema has the same
    /// limit.
    pub document_size: usize,
    /// Nesting of tables. The schema limits the depth of a document, and every table takes three levels of it.
    pub nesting: usize,
}

impl Limits {
    /// Below this decompressed size the ratio is not checked.
    pub const RATIO_EXEMPT_BYTES: u64 = 1 << 20;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            entries: 10_000,
            inflated_bytes: 500 << 20,
            ratio: 100,
            part_bytes: 32 << 20,
            elements: 2_000_000,
            depth: 256,
            tag_bytes: 1 << 20,
            attributes: 256,
            document_size: 4_000_000,
            nesting: 4,
        }
    }
}
