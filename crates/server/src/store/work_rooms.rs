//! work_rooms.

use super::sql::Sql;

/// Every statement of this file by name.
pub static STATEMENTS: &[(&str, &Sql)] = &[];
