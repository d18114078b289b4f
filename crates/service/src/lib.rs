//! Use cases. `actions` are the steps inside one transaction, `changes` derives the activity log, the realtime events and
//! file cleanup from each mutation, `editing` holds the workflows of several transactions that involve the document
//! server, `import` reads tables of users, `jobs` runs the queue.

pub mod actions;
pub mod changes;
pub mod document_workflows;
pub mod import;
pub mod jobs;
pub mod roster;
pub mod sign_on;
