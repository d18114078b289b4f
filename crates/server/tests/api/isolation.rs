//! isolation.
