//! Pictures that were added to documents in the built-in editor.

use crate::file::{FileKey, FileType};
use crate::id::{DocumentId, ImageId, UserId};
use crate::time::Timestamp;

/// Maximum number of pictures that can be added to one document.
pub const IMAGES_MAX: usize = 500;
/// Maximum size of a picture in bytes.
pub const IMAGE_BYTES_MAX: u64 = 10 << 20;
/// Maximum number of pixels of a picture. A browser needs four bytes of memory for each.
pub const PIXELS_MAX: u64 = 50_000_000;

/// A picture of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentImage {
    /// The attribute `src` of image nodes.
    pub id: ImageId,
    pub document_id: DocumentId,
    pub mime_type: String,
    /// Size in bytes.
    pub size: i64,
    /// SHA-256 of the bytes, hexadecimal.
    pub sha256: String,
    pub file_key: FileKey,
    /// Width in pixels.
    pub width: i64,
    /// Height in pixels.
    pub height: i64,
    pub uploaded_by_id: UserId,
    pub created_at: Timestamp,
}

/// Returns whether documents can contain pictures of this type. Browsers show all of them without running scripts.
pub const fn is_document_image(kind: FileType) -> bool {
    matches!(kind, FileType::Png | FileType::Jpg | FileType::Gif | FileType::Webp)
}

/// Returns whether a media type is one of a picture that is shown.
pub fn is_shown(media_type: &str) -> bool {
    matches!(media_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

/// Reads the width and height in pixels from the first bytes of a picture; `None` if they are not found. The type must
/// have been checked.
pub fn dimensions(kind: FileType, head: &[u8]) -> Option<(u32, u32)> {
    match kind {
        FileType::Png => Some((big(head.get(16..20)?), big(head.get(20..24)?))),
        FileType::Gif => Some((little(head.get(6..8)?), little(head.get(8..10)?))),
        FileType::Webp => webp(head),
        FileType::Jpg => jpeg(head),
        _ => None,
    }
}

fn webp(head: &[u8]) -> Option<(u32, u32)> {
    match head.get(12..16)? {
        b"VP8X" => Some((little(head.get(24..27)?) + 1, little(head.get(27..30)?) + 1)),
        b"VP8L" => {
            let bits = little(head.get(21..25)?);
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        b"VP8 " => Some((little(head.get(26..28)?) & 0x3fff, little(head.get(28..30)?) & 0x3fff)),
        _ => None,
    }
}

/// Finds the start of frame, which contains the size. Segments before it may be long, such as a thumbnail.
fn jpeg(head: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        if *head.get(at)? != 0xff {
            return None;
        }
        match *head.get(at + 1)? {
            0xff => at += 1,
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                let (height, width) = (big(head.get(at + 5..at + 7)?), big(head.get(at + 7..at + 9)?));
                return Some((width, height));
            }
            0x01 | 0xd0..=0xd8 => at += 2,
            _ => at += 2 + usize::try_from(big(head.get(at + 2..at + 4)?)).ok()?,
        }
    }
}

fn big(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| (number << 8) | u32::from(*byte))
}

fn little(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| (number << 8) | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_read_from_the_head_of_each_type() {
        let png = [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], &[0, 0, 2, 128, 0, 0, 1, 224]].concat();
        assert_eq!(dimensions(FileType::Png, &png), Some((640, 480)));
        let gif = [&b"GIF89a"[..], &[128, 2, 224, 1]].concat();
        assert_eq!(dimensions(FileType::Gif, &gif), Some((640, 480)));
        let segment = [
            &[0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2][..],
            &[0xff, 0xc2, 0, 17, 8, 1, 224, 2, 128],
        ]
        .concat();
        assert_eq!(dimensions(FileType::Jpg, &segment), Some((640, 480)));
        let extended = [
            &b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0"[..],
            &[0, 0, 0, 0, 127, 2, 0, 223, 1, 0],
        ]
        .concat();
        assert_eq!(dimensions(FileType::Webp, &extended), Some((640, 480)));
    }

    #[test]
    fn truncated_heads_have_no_dimensions() {
        for kind in [
            FileType::Png,
            FileType::Gif,
            FileType::Jpg,
            FileType::Webp,
            FileType::Svg,
        ] {
            for length in 0..10 {
                assert_eq!(dimensions(kind, &vec![0xff; length]), None, "{kind} {length}");
            }
        }
    }
}
