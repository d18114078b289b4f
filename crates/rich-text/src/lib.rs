//! The document model of the built-in editor.
//!
//! The web client edits with ProseMirror; the service decides in which order changes apply. This crate contains what
//! such an authority needs: [`Node`], [`Mark`], [`Slice`] and [`Step`] read and write the JSON of `prosemirror-model` and
//! `prosemirror-transform`, a step applies to a document with the same result, and [`rebase()`] moves steps over steps
//! of other authors. `schema.json` is the schema of both sides.
//!
//! Positions count UTF-16 code units, as in the browser. A position inside a surrogate pair is an error.
//!
//! JSON is untrusted: every attribute is checked against its rule in `schema.json`, documents have a limited depth and
//! size ([`limits`]), and invalid input is a [`RichTextError`], never a panic. The caller limits the number of bytes.
//!
//! Stricter than ProseMirror, which accepts these: a range whose end precedes its start, a slice that is more open than
//! deep, an invalid node inside a slice (ProseMirror finds it in `Node.check` only), a step that sets an unknown
//! attribute, and an object attribute that is no object.

mod authorship;
mod content;
mod error;
mod fragment;
mod map;
mod mark;
mod node;
mod passage;
mod position;
mod rebase;
mod replace;
mod schema;
mod slice;
mod step;
mod step_json;

pub use authorship::{AuthoredPassage, AuthoredText, Authorship, MOVED_MIN};
pub use error::RichTextError;
pub use fragment::Fragment;
pub use map::{Bias, MapResult, Mapping, MappingView, StepMap};
pub use mark::Mark;
pub use node::Node;
pub use passage::Passage;
pub use position::ResolvedPosition;
pub use rebase::{Rebased, rebase};
pub use schema::{Attrs, DocumentLimits, MarkType, NodeType, limits};
pub use slice::Slice;
pub use step::{MarkChange, Step};
