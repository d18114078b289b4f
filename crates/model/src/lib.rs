//! The nouns and rules of the group-work service: what is true, without I/O, clock or async.
//!
//! | Word | What it means here | Module |
//! |---|---|---|
//! | Organization | A school, the tenant; everything below belongs to exactly one. | [`organization`] |
//! | Class | Students and their teachers through a year, with a schedule; it holds several courses. | [`class`] |
//! | Course | What one class plans to do in one subject. | [`course`] |
//! | Assignment (topic) | One round of work of a course: title, task text, deadline, and the groups that work on it. | [`assignment`] |
//! | Group | Some students of a class who work together. | [`group`] |
//! | Group assignment | One group on one assignment; what is submitted, graded and commented. | [`group_assignment`] |
//! | Submission | One attempt of a group to hand in an assignment. | [`submission`] |
//! | Work room | The place of one group, with its documents and its chat. | [`message`] |
//! | Document | A file that the group edits in its work room. | [`document`] |
//! | Document server | The editor next door that opens, saves and converts documents. | [`save`] |
//! | Job | Work that outlives a request and a restart. | [`job`] |
//! | Homeroom | The fixed class of pupils that a school keeps besides its teaching. | [`homeroom`] |
//! | Subject | What is taught, a list of the whole organization. | [`subject`] |
//! | Help flag | A group's raised hand. | [`help`] |
//!
//! Small things first: [`id`], [`time`], [`text`], [`number`] and [`list`] are the values of fields, [`edit`] is a PATCH,
//! [`access`] says who may ask, [`policy`] names the clauses, [`refusal`] says why a rule says no. [`whole`] are nouns with all that an answer shows.
//! A change in the past tense ([`change`]) is what actions leave behind; log ([`activity`]), signals ([`news`]) and file
//! removal follow from it.

pub mod access;
pub mod activity;
pub mod assignment;
pub mod change;
pub mod class;
pub mod collation;
pub mod contribution;
pub mod course;
pub mod division;
pub mod document;
pub mod document_kind;
pub mod edit;
pub mod erasure;
pub mod export;
pub mod feedback;
pub mod file;
pub mod grade;
mod grade_scale;
pub mod group;
pub mod group_assignment;
pub mod help;
pub mod homeroom;
pub mod id;
pub mod idempotency;
pub mod import;
pub mod installation;
pub mod invitation;
pub mod job;
pub mod late_text;
pub mod letter;
pub mod list;
pub mod mail_domain;
pub mod message;
pub mod network;
pub mod news;
pub mod number;
pub mod organization;
pub mod policy;
pub mod rate;
pub mod refusal;
#[cfg(test)]
mod samples;
pub mod save;
pub mod schedule;
pub mod school_year;
pub mod sign_in_limit;
pub mod storage;
pub mod subject;
pub mod submission;
pub mod take_over;
pub mod text;
pub mod time;
pub mod user;
pub mod version;
pub mod visible_text;
pub mod whole;
mod word;
pub mod zone;
