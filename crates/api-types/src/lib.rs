//! JSON representations, shared by HTTP responses and event payloads. No I/O.

/// Implements `From` of a domain object for a view. Fields of the same names are moved, or cloned from a reference; the
/// others are expressions: `view_from!(file: &StoredFile => FileView { id, url: path(&file.id) })`.
macro_rules! view_from {
    ($object:ident: &$noun:ty => $view:ident $fields:tt) => {
        impl From<&$noun> for $view {
            fn from($object: &$noun) -> Self {
                domain::from_fields!(&$object => $view $fields)
            }
        }
    };
    ($object:ident: $noun:ty => $view:ident $fields:tt) => {
        impl From<$noun> for $view {
            fn from($object: $noun) -> Self {
                domain::from_fields!($object => $view $fields)
            }
        }
    };
}

pub mod activity_log;
pub mod api_token;
pub mod assignment;
pub mod attachment;
pub mod audience;
pub mod authorship;
pub mod board;
pub mod bulk_edit;
pub mod class;
pub mod comment;
pub mod contribution;
pub mod copy;
pub mod course;
pub mod course_detail;
pub mod csv;
pub mod deletion;
pub mod document;
pub mod document_log;
pub mod event;
pub mod event_catalog;
mod event_parts;
pub mod finish;
pub mod grade_book;
pub mod grade_table;
pub mod group;
pub mod group_assignment;
pub mod homeroom;
pub mod import;
pub mod invitation;
pub mod late_text;
pub mod mail_domain;
pub mod message;
pub mod overview;
pub mod playback;
pub mod privacy;
pub mod roster;
pub mod rubric;
pub mod school;
pub mod sign_on;
pub mod snippet;
pub mod subject;
pub mod submission;
pub mod tenant;
pub mod topic_export;
pub mod user;
pub mod work_room;
