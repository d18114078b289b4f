//! access.
