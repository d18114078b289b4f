//! Detects bare LF line endings in request heads, which hyper accepts. A proxy that splits header fields differently
//! would see other fields (request smuggling), so such a request is rejected with 400 and its connection is closed.

/// Bytes of a header field that are examined: enough for the names and values of framing fields.
const LINE_MAX: usize = 64;

/// Tracks the bytes of one connection from head to head, for as long as it is HTTP.
#[derive(Debug, Default)]
pub struct HeadScanner {
    state: ScannerState,
    /// The start of the current field, without its line ending.
    line: Vec<u8>,
    line_length: usize,
    previous: u8,
    framing: Framing,
    has_request_line: bool,
}

#[derive(Debug, Default, Clone, Copy)]
struct Framing {
    length: u64,
    is_chunked: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ScannerState {
    /// In a request head.
    #[default]
    Head,
    /// In a body, with the number of bytes left.
    Body(u64),
    /// In the size of a chunk.
    ChunkSize,
    /// In a chunk and its CRLF, with the number of bytes left.
    Chunk(u64),
    /// In the trailers after the last chunk.
    Trailers,
    /// Framing that cannot be parsed. Either hyper rejects it, or no further request is read from this connection.
    Lost,
}

impl HeadScanner {
    /// Scans bytes in the order in which hyper reads them. Replaces the first bare LF of a head with NUL, so that hyper
    /// rejects the request.
    pub fn scan(&mut self, bytes: &mut [u8]) {
        let mut at = 0;
        while at < bytes.len() {
            match self.state {
                ScannerState::Lost => return,
                ScannerState::Body(left) | ScannerState::Chunk(left) => {
                    let rest = (bytes.len() - at) as u64;
                    let skipped = left.min(rest);
                    // At most `rest`, which is a length in memory.
                    at += usize::try_from(skipped).unwrap_or(bytes.len());
                    self.state = match (self.state, left - skipped) {
                        (ScannerState::Chunk(_), 0) => ScannerState::ChunkSize,
                        (ScannerState::Chunk(_), left) => ScannerState::Chunk(left),
                        (_, 0) => ScannerState::Head,
                        (_, left) => ScannerState::Body(left),
                    };
                }
                ScannerState::Head | ScannerState::ChunkSize | ScannerState::Trailers => {
                    let byte = bytes[at];
                    if byte == b'\n' && self.previous != b'\r' {
                        bytes[at] = 0;
                        self.state = ScannerState::Lost;
                        return;
                    }
                    self.previous = byte;
                    if byte == b'\n' {
                        self.end_line();
                    } else {
                        self.line_length += 1;
                        if self.line.len() < LINE_MAX {
                            self.line.push(byte);
                        }
                    }
                    at += 1;
                }
            }
        }
    }

    /// Handles a complete field of the head or of the chunk framing. Its last byte is CR.
    fn end_line(&mut self) {
        let is_empty = self.line_length == 1;
        let line = std::mem::take(&mut self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        self.line_length = 0;
        self.previous = 0;
        self.state = match self.state {
            // Empty lines before a request are skipped.
            ScannerState::Head if is_empty && !self.has_request_line => ScannerState::Head,
            ScannerState::Head if is_empty => self.body(),
            ScannerState::Head => {
                self.framing.read(line, !self.has_request_line);
                self.has_request_line = true;
                ScannerState::Head
            }
            ScannerState::ChunkSize => chunk(line),
            ScannerState::Trailers if is_empty => ScannerState::Head,
            other => other,
        };
    }

    /// The state after a complete head.
    fn body(&mut self) -> ScannerState {
        let framing = std::mem::take(&mut self.framing);
        self.has_request_line = false;
        if framing.is_chunked {
            ScannerState::ChunkSize
        } else if framing.length == u64::MAX {
            ScannerState::Lost
        } else if framing.length > 0 {
            ScannerState::Body(framing.length)
        } else {
            ScannerState::Head
        }
    }
}

impl Framing {
    /// Reads the framing of the body from a header field.
    fn read(&mut self, line: &[u8], is_request_line: bool) {
        let Some(colon) = line.iter().position(|byte| *byte == b':').filter(|_| !is_request_line) else {
            return;
        };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.is_chunked = true;
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let length = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
            self.length = length.unwrap_or(u64::MAX);
        }
    }
}

/// The state after the size of a chunk.
fn chunk(line: &[u8]) -> ScannerState {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    let size = std::str::from_utf8(digits)
        .ok()
        .and_then(|digits| u64::from_str_radix(digits, 16).ok());
    match size {
        Some(0) => ScannerState::Trailers,
        Some(size) => size.checked_add(2).map_or(ScannerState::Lost, ScannerState::Chunk),
        None => ScannerState::Lost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes after a scan in pieces of this size.
    fn scanned(text: &str, piece: usize) -> Vec<u8> {
        let mut scanner = HeadScanner::default();
        let mut bytes = text.as_bytes().to_vec();
        for piece in bytes.chunks_mut(piece) {
            scanner.scan(piece);
        }
        bytes
    }

    #[test]
    fn heads_with_crlf_and_bodies_are_unchanged() {
        for text in [
            "GET / HTTP/1.1\r\nhost: x\r\n\r\n",
            "\r\n\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\n\n\n\n\nGET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\n\n\n\n\r\n0\r\na: b\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        ] {
            for piece in 1..text.len() {
                assert_eq!(scanned(text, piece), text.as_bytes(), "{text:?} by {piece}");
            }
        }
    }

    #[test]
    fn bare_line_feed_in_any_head_is_made_invalid() {
        for text in [
            "GET / HTTP/1.1|host: x\r\n\r\n",
            "GET / HTTP/1.1\r\nhost: x|a: b\r\n\r\n",
            "GET / HTTP/1.1\r\nhost: x\r\n|",
            "|GET / HTTP/1.1\r\n",
            "GET / HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1|",
            "GET / HTTP/1.1\r\nupgrade: websocket\r\n\r\nGET / HTTP/1.1|",
            "POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n\n\nGET / HTTP/1.1|",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2|",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\n\r\nGET / HTTP/1.1|",
        ] {
            let (sent, expected) = (text.replace('|', "\n"), text.replace('|', "\0"));
            for piece in 1..=sent.len() {
                assert_eq!(scanned(&sent, piece), expected.as_bytes(), "{text:?} by {piece}");
            }
        }
    }
}
