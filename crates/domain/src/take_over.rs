//! Account takeover: an organization that holds the mail domain of an account takes over the account from the
//! organization that created it, unless the email address was verified.

/// Properties of an account that determine whether it can be taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties of the account")]
pub struct TakeOverCandidate {
    /// Whether the organization holds the domain of the address and the TXT record was found at the last check.
    pub is_under_held_domain: bool,
    /// Whether this organization created the account.
    pub is_own: bool,
    /// Whether the account is a member of this organization.
    pub is_member: bool,
    /// Whether the email address of the account was ever verified.
    pub is_proven: bool,
    /// Whether the account is a platform administrator.
    pub is_super_admin: bool,
    /// Whether the account is the owner of an organization.
    pub is_owner: bool,
}

impl TakeOverCandidate {
    /// Returns whether the organization may take over the account when it adds the address.
    pub const fn can_be_taken_over(self) -> bool {
        self.is_under_held_domain
            && !self.is_own
            && !self.is_member
            && !self.is_proven
            && !self.is_super_admin
            && !self.is_owner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unverified_account_of_own_domain_is_taken_over() {
        let all = (0..64_u8).map(|bits| {
            let bit = |index: u8| bits & (1 << index) != 0;
            TakeOverCandidate {
                is_under_held_domain: bit(0),
                is_own: bit(1),
                is_member: bit(2),
                is_proven: bit(3),
                is_super_admin: bit(4),
                is_owner: bit(5),
            }
        });
        let taken: Vec<_> = all.filter(|candidate| candidate.can_be_taken_over()).collect();
        let only = TakeOverCandidate {
            is_under_held_domain: true,
            is_own: false,
            is_member: false,
            is_proven: false,
            is_super_admin: false,
            is_owner: false,
        };
        assert_eq!(taken, [only]);
    }
}
