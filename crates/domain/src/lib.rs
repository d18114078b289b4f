//! Domain model of the group-work service: entities and rules, without I/O, clock or async.
//!
//! | Term | Meaning | Module |
//! |---|---|---|
//! | Organization | A school, the tenant; every object below belongs to exactly one. | [`organization`] |
//! | Class | Students and their teachers through a school year, with a timetable; it has several courses. | [`class`] |
//! | Course | The teaching of one subject in one class. | [`course`] |
//! | Assignment (topic) | One task of a course: title, task text, deadline and groups. | [`assignment`] |
//! | Group | Students of a class who work together. | [`group`] |
//! | Group assignment | One group on one assignment; the unit of submission and grading. | [`group_assignment`] |
//! | Submission | One attempt of a group to submit an assignment. | [`submission`] |
//! | Work room | The workspace of one group, with its documents and its chat. | [`message`] |
//! | Document | A file that the group edits in its work room. | [`document`] |
//! | Document server | The external editor (ONLYOFFICE) that opens, saves and converts documents. | [`save`] |
//! | Job | A background task that outlives a request and a restart. | [`job`] |
//! | Homeroom | An administrative class of the school, independent of its lessons. | [`homeroom`] |
//! | Subject | A school subject, defined for the whole organization. | [`subject`] |
//! | Help flag | A group's request for help. | [`help`] |
//!
//! [`id`], [`time`], [`text`], [`number`] and [`list`] are field types, [`patch`] represents a PATCH, [`access`]
//! contains the roles, and [`domain_error`] is the error type of all rules.
//! [`details`] contains entities with everything a response shows. Actions produce changes ([`change`]), from which log
//! entries ([`activity`]), events ([`realtime`]) and file removals are derived.

pub mod access;
pub mod account_email;
pub mod activity;
pub mod api_token;
pub mod assignment;
pub mod change;
pub mod class;
pub mod collation;
pub mod comment;
pub mod contribution;
pub mod copy;
pub mod course;
pub mod deleted_object;
pub mod details;
pub mod document;
pub mod document_image;
pub mod document_kind;
pub mod document_log;
pub mod domain_error;
pub mod email;
pub mod erasure;
pub mod error_code;
pub mod export;
pub mod feedback;
pub mod file;
mod from_fields;
pub mod grade;
pub mod grade_book;
mod grade_scale;
pub mod group;
pub mod group_assignment;
pub mod group_generator;
pub mod help;
pub mod homeroom;
pub mod id;
pub mod idempotency;
pub mod import;
pub mod installation;
pub mod invitation;
pub mod job;
pub mod late_text;
pub mod list;
pub mod mail_domain;
pub mod maintenance;
pub mod message;
pub mod network;
pub mod number;
pub mod organization;
pub mod passkey;
pub mod patch;
pub mod publication;
pub mod rate;
pub mod realtime;
pub mod roster;
pub mod roster_source;
pub mod rubric;
#[cfg(test)]
mod samples;
pub mod save;
pub mod schedule;
pub mod school_year;
pub mod second_factor;
pub mod sign_in_limit;
pub mod sign_on;
pub mod snippet;
pub mod storage;
pub mod stored;
mod string_enum;
pub mod subject;
pub mod submission;
pub mod take_over;
pub mod text;
pub mod time;
pub mod user;
pub mod user_name;
mod valid_when_parsed;
pub mod version;
pub mod visible_text;
pub mod zone;
