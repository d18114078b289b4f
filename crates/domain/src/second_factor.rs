//! Second factors: an authenticator app (TOTP), and recovery codes for a lost one. A code is accepted once. Failures are
//! counted for each waiting sign-in and for each account, in addition to the limits of failed sign-ins.

use crate::access::{MemberRole, PlatformRole};
use crate::string_enum::string_enum;
use crate::time::Timestamp;

string_enum! {
    /// The members who are required to have a second factor.
    RequiredMembers {
        /// Administrators and owners.
        Admins = "admins",
        /// Teachers, administrators and owners.
        Staff = "staff",
    }
}

impl RequiredMembers {
    /// Whether a member with this role is required to have a second factor.
    pub const fn includes(self, role: MemberRole) -> bool {
        match (self, role) {
            (_, MemberRole::Owner | MemberRole::Admin) | (Self::Staff, MemberRole::Teacher) => true,
            (_, MemberRole::Teacher | MemberRole::Student) => false,
        }
    }
}

/// Who is required to have a second factor in all organizations of an installation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecondFactorPolicy {
    /// Whether platform administrators are.
    pub for_platform_administrators: bool,
    /// The members of every organization who are.
    pub members: Option<RequiredMembers>,
}

impl SecondFactorPolicy {
    /// Whether a user with these roles is required to have a second factor; `of_organization` is the requirement of the
    /// organization in which they work.
    pub fn requires(
        &self,
        platform: PlatformRole,
        member: Option<MemberRole>,
        of_organization: Option<RequiredMembers>,
    ) -> bool {
        let includes = |required: Option<RequiredMembers>| {
            required
                .zip(member)
                .is_some_and(|(required, role)| required.includes(role))
        };
        (self.for_platform_administrators && platform == PlatformRole::SuperAdmin)
            || includes(self.members)
            || includes(of_organization)
    }
}

/// How long a sign-in waits for its second factor, in seconds.
pub const PENDING_SECONDS: i64 = 10 * 60;
/// Wrong codes that end a waiting sign-in.
pub const ATTEMPTS_MAX: i64 = 5;
/// Consecutive wrong codes that lock the second factor of an account.
pub const FAILURES_MAX: i64 = 10;
/// How long a second factor is locked, in seconds.
pub const LOCK_SECONDS: i64 = 15 * 60;
/// How long a browser is trusted after a sign-in, in seconds.
pub const TRUST_SECONDS: i64 = 30 * 24 * 60 * 60;
/// Number of recovery codes of a user.
pub const RECOVERY_CODES: usize = 10;

/// The codes that were entered for a second factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeHistory {
    /// The step of the last accepted code.
    pub last_step: Option<i64>,
    /// Wrong codes since the last accepted one.
    pub failures: i64,
    /// The end of the lock after too many wrong codes.
    pub locked_until: Option<Timestamp>,
}

impl CodeHistory {
    /// Whether no code is accepted now.
    pub fn is_locked(&self, now: Timestamp) -> bool {
        self.locked_until.is_some_and(|until| until > now)
    }

    /// Whether a code of this step is new. Codes of earlier steps are rejected, too, because they may have been observed.
    pub fn accepts(&self, step: i64) -> bool {
        self.last_step.is_none_or(|last| step > last)
    }

    /// Counts a wrong code. After a lock has ended, the count restarts.
    #[must_use]
    pub fn after_failure(self, now: Timestamp) -> Self {
        let before = if self.locked_until.is_some() { 0 } else { self.failures };
        let failures = before + 1;
        let locked_until = (failures >= FAILURES_MAX).then(|| now.plus_seconds(LOCK_SECONDS));
        Self {
            failures,
            locked_until,
            ..self
        }
    }

    /// Resets the count after a correct code; `step` is that of a code of the app.
    #[must_use]
    pub fn after_success(self, step: Option<i64>) -> Self {
        Self {
            last_step: step.or(self.last_step),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    #[test]
    fn ten_consecutive_failures_lock_for_fifteen_minutes() {
        let mut history = CodeHistory::default();
        for _ in 1..FAILURES_MAX {
            history = history.after_failure(NOW);
            assert!(!history.is_locked(NOW));
        }
        history = history.after_failure(NOW);
        assert!(history.is_locked(NOW) && history.is_locked(NOW.plus_seconds(LOCK_SECONDS - 1)));
        let later = NOW.plus_seconds(LOCK_SECONDS);
        assert!(!history.is_locked(later));
        assert_eq!(
            history.after_failure(later).failures,
            1,
            "the count restarts after a lock"
        );
        assert_eq!(history.after_success(Some(7)).failures, 0);
    }

    #[test]
    fn requirement_depends_on_role_and_is_never_lowered_by_an_organization() {
        use MemberRole::{Admin, Owner, Student, Teacher};
        let none = SecondFactorPolicy::default();
        let all_staff = SecondFactorPolicy {
            members: Some(RequiredMembers::Staff),
            ..none
        };
        for (policy, of_organization, required) in [
            (none, None, vec![]),
            (none, Some(RequiredMembers::Admins), vec![Owner, Admin]),
            (none, Some(RequiredMembers::Staff), vec![Owner, Admin, Teacher]),
            (all_staff, None, vec![Owner, Admin, Teacher]),
            (all_staff, Some(RequiredMembers::Admins), vec![Owner, Admin, Teacher]),
        ] {
            for role in [Owner, Admin, Teacher, Student] {
                let is_required = policy.requires(PlatformRole::Teacher, Some(role), of_organization);
                assert_eq!(
                    is_required,
                    required.contains(&role),
                    "{policy:?} {of_organization:?} {role:?}"
                );
            }
            assert!(!policy.requires(PlatformRole::SuperAdmin, None, of_organization));
        }
        let platform = SecondFactorPolicy {
            for_platform_administrators: true,
            ..none
        };
        assert!(platform.requires(PlatformRole::SuperAdmin, None, None));
        assert!(!platform.requires(PlatformRole::Admin, Some(Owner), None));
    }

    #[test]
    fn only_codes_of_later_steps_are_accepted() {
        let history = CodeHistory::default().after_success(Some(100));
        assert!(!history.accepts(99) && !history.accepts(100) && history.accepts(101));
        assert!(CodeHistory::default().accepts(1));
        assert_eq!(
            history.after_success(None).last_step,
            Some(100),
            "a recovery code keeps the last step"
        );
    }
}
