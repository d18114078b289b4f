//! Rosters: lists of the people, classes and memberships of a school that are read from its administration system.

use crate::string_enum::string_enum;

string_enum! {
    /// The protocol of a roster server.
    RosterProtocol {
        /// OneRoster REST 1.1: the role is a property of the user.
        OneRoster11 = "ONE_ROSTER_1_1",
        /// OneRoster REST 1.2: a user has one role per organization.
        OneRoster12 = "ONE_ROSTER_1_2",
        /// Schulconnex `/personen-info`.
        Schulconnex = "SCHULCONNEX",
    }
}
