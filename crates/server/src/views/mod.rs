//! JSON shapes; HTTP answers and socket payloads share them. No I/O.

pub mod activity_log;
pub mod assignment;
pub mod attachment;
pub mod audience;
pub mod board;
pub mod bulk_edit;
pub mod class;
pub mod contribution;
pub mod course;
pub mod course_detail;
pub mod csv;
pub mod document;
pub mod grade_table;
pub mod group;
pub mod group_assignment;
pub mod homeroom;
pub mod import;
pub mod message;
pub mod overview;
pub mod privacy;
pub mod school;
pub mod subject;
pub mod submission;
pub mod tenant;
pub mod user;
pub mod work_room;
