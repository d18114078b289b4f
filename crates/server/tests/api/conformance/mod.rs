//! The checks of the document server's protocol (document-server.md, section 4), each under its id.

mod archive_faults;
mod archives;
