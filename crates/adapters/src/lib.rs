//! Clients of the systems outside the database: file storage, SMTP, the document server and DNS. They know protocols and
//! formats; they decide nothing about courses, groups or permissions.

pub mod blob_store;
pub mod dns;
pub mod mailer;
pub mod onlyoffice;
pub mod openid;
mod outgoing_http;
pub mod roster;
