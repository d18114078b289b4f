//! The help flag of a group: calm or raised. The time of a raised flag never changes, so that the help queue stays
//! fair. Students can mark a request as no longer needed; only staff lower the flag.

use crate::id::UserId;
use crate::text::HelpMessage;
use crate::time::Timestamp;

/// State of a group's help request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HelpFlag {
    /// The group does not need help.
    Lowered {
        /// When and by whom the last request was resolved; visible to staff only.
        resolved: Option<ResolvedHelpRequest>,
    },
    /// The group needs help.
    Raised {
        /// When the flag was raised; repeated requests do not change it.
        since: Timestamp,
        message: Option<HelpMessage>,
        /// The student who raised the flag.
        by: Option<UserId>,
        /// The teacher who claimed the request.
        claimed_by: Option<UserId>,
        /// When a student marked the request as no longer needed. Only staff lower the flag.
        withdrawn_at: Option<Timestamp>,
    },
}

/// A resolved help request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedHelpRequest {
    pub at: Timestamp,
    /// `None` once the user has been erased.
    pub by: Option<UserId>,
}

/// Effect of raising the flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HelpRequestOutcome {
    /// The flag was raised: the request is logged and an event is emitted.
    First,
    /// The request had been withdrawn: like [`Self::First`], but the log does not repeat the message, which another
    /// student may have written.
    Renewed,
    /// The flag was raised already: an event is emitted, but the request is not logged again.
    Again,
}

/// The flag as stored in the database, one field per column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HelpColumns {
    /// Set exactly while the flag is raised.
    pub requested_at: Option<Timestamp>,
    pub message: Option<HelpMessage>,
    pub requested_by_id: Option<UserId>,
    pub claimed_by_id: Option<UserId>,
    pub withdrawn_at: Option<Timestamp>,
    /// When the last request was resolved.
    pub resolved_at: Option<Timestamp>,
    pub resolved_by_id: Option<UserId>,
}

impl Default for HelpFlag {
    fn default() -> Self {
        Self::Lowered { resolved: None }
    }
}

impl HelpFlag {
    /// Raises the flag. If it is raised already, only a new message takes effect; without one the previous message is
    /// kept. A withdrawn request is needed again and keeps its time, but not the claim.
    pub fn raise(&mut self, student: &UserId, text: Option<HelpMessage>, now: Timestamp) -> HelpRequestOutcome {
        match self {
            Self::Lowered { .. } => {
                *self = Self::Raised {
                    since: now,
                    message: text,
                    by: Some(student.clone()),
                    claimed_by: None,
                    withdrawn_at: None,
                };
                HelpRequestOutcome::First
            }
            Self::Raised {
                message, withdrawn_at, ..
            } => {
                if text.is_some() {
                    *message = text;
                }
                match withdrawn_at.take() {
                    Some(_) => HelpRequestOutcome::Renewed,
                    None => HelpRequestOutcome::Again,
                }
            }
        }
    }

    /// Marks the request as no longer needed and returns whether that changed. The flag stays raised; a claim ends, so
    /// that the group is not promised a visit when it renews the request.
    pub fn withdraw(&mut self, now: Timestamp) -> bool {
        match self {
            Self::Raised {
                withdrawn_at,
                claimed_by,
                ..
            } if withdrawn_at.is_none() => {
                *withdrawn_at = Some(now);
                *claimed_by = None;
                true
            }
            Self::Raised { .. } | Self::Lowered { .. } => false,
        }
    }

    /// Resolves the request and returns how many seconds the group waited; `None` if the flag is not raised.
    pub fn resolve(&mut self, teacher: &UserId, now: Timestamp) -> Option<i64> {
        let Self::Raised { since, .. } = *self else { return None };
        *self = Self::Lowered {
            resolved: Some(ResolvedHelpRequest {
                at: now,
                by: Some(teacher.clone()),
            }),
        };
        // Keeps the duration non-negative if the clock was set back.
        Some(now.seconds_since(since).max(0))
    }

    /// Records the teacher who attends to the group and returns whether that changed.
    pub fn claim(&mut self, teacher: &UserId) -> bool {
        match self {
            Self::Raised { claimed_by, .. } if claimed_by.as_ref() != Some(teacher) => {
                *claimed_by = Some(teacher.clone());
                true
            }
            Self::Raised { .. } | Self::Lowered { .. } => false,
        }
    }

    pub const fn needs_help(&self) -> bool {
        matches!(self, Self::Raised { .. })
    }

    pub const fn requested_at(&self) -> Option<Timestamp> {
        match self {
            Self::Raised { since, .. } => Some(*since),
            Self::Lowered { .. } => None,
        }
    }

    pub const fn message(&self) -> Option<&HelpMessage> {
        match self {
            Self::Raised { message, .. } => message.as_ref(),
            Self::Lowered { .. } => None,
        }
    }

    pub const fn requested_by(&self) -> Option<&UserId> {
        match self {
            Self::Raised { by, .. } => by.as_ref(),
            Self::Lowered { .. } => None,
        }
    }

    pub const fn claimed_by(&self) -> Option<&UserId> {
        match self {
            Self::Raised { claimed_by, .. } => claimed_by.as_ref(),
            Self::Lowered { .. } => None,
        }
    }

    pub const fn withdrawn_at(&self) -> Option<Timestamp> {
        match self {
            Self::Raised { withdrawn_at, .. } => *withdrawn_at,
            Self::Lowered { .. } => None,
        }
    }

    /// Returns the place of the request in the queue: longest waiting first, those that are no longer needed last.
    pub fn queue_position(&self) -> Option<(bool, Timestamp)> {
        Some((self.withdrawn_at().is_some(), self.requested_at()?))
    }

    pub const fn resolved(&self) -> Option<&ResolvedHelpRequest> {
        match self {
            Self::Lowered { resolved } => resolved.as_ref(),
            Self::Raised { .. } => None,
        }
    }
}

impl From<HelpColumns> for HelpFlag {
    fn from(columns: HelpColumns) -> Self {
        match columns.requested_at {
            Some(since) => Self::Raised {
                since,
                message: columns.message,
                by: columns.requested_by_id,
                claimed_by: columns.claimed_by_id,
                withdrawn_at: columns.withdrawn_at,
            },
            None => Self::Lowered {
                resolved: columns.resolved_at.map(|at| ResolvedHelpRequest {
                    at,
                    by: columns.resolved_by_id,
                }),
            },
        }
    }
}

impl From<HelpFlag> for HelpColumns {
    fn from(flag: HelpFlag) -> Self {
        match flag {
            HelpFlag::Raised {
                since,
                message,
                by,
                claimed_by,
                withdrawn_at,
            } => Self {
                requested_at: Some(since),
                message,
                requested_by_id: by,
                claimed_by_id: claimed_by,
                withdrawn_at,
                ..Self::default()
            },
            HelpFlag::Lowered { resolved } => {
                let (resolved_at, resolved_by_id) =
                    resolved.map_or((None, None), |resolved| (Some(resolved.at), resolved.by));
                Self {
                    resolved_at,
                    resolved_by_id,
                    ..Self::default()
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn ben() -> UserId {
        UserId::new("ben")
    }

    fn ada() -> UserId {
        UserId::new("ada")
    }

    fn message(text: &str) -> HelpMessage {
        HelpMessage::stored(text)
    }

    #[test]
    fn help_request_stays_until_teacher_resolves_it() {
        let mut flag = HelpFlag::default();
        assert_eq!(
            flag.raise(&ben(), Some(message("stuck")), at(10)),
            HelpRequestOutcome::First
        );
        assert_eq!((flag.requested_at(), flag.requested_by()), (Some(at(10)), Some(&ben())));
        assert_eq!(flag.resolve(&ada(), at(70)), Some(60));
        assert!(!flag.needs_help());
        assert_eq!(
            flag.resolved(),
            Some(&ResolvedHelpRequest {
                at: at(70),
                by: Some(ada())
            })
        );
        assert_eq!(flag.message(), None);
    }

    #[test]
    fn resolving_without_help_request_changes_nothing() {
        let mut flag = HelpFlag::default();
        assert_eq!(flag.resolve(&ada(), at(1)), None);
        assert_eq!(flag, HelpFlag::default());
        assert!(!flag.claim(&ada()));
    }

    #[test]
    fn repeated_help_request_keeps_message_unless_given() {
        let mut flag = HelpFlag::default();
        flag.raise(&ben(), Some(message("stuck")), at(10));
        assert_eq!(flag.raise(&UserId::new("zoe"), None, at(20)), HelpRequestOutcome::Again);
        assert_eq!(flag.message(), Some(&message("stuck")));
        flag.raise(&UserId::new("zoe"), Some(message("still stuck")), at(30));
        assert_eq!(flag.message(), Some(&message("still stuck")));
        assert_eq!(flag.requested_by(), Some(&ben()));
    }

    #[test]
    fn help_claim_is_a_change_only_once() {
        let mut flag = HelpFlag::default();
        flag.raise(&ben(), None, at(10));
        assert!(flag.claim(&ada()));
        assert!(!flag.claim(&ada()));
        assert_eq!(flag.claimed_by(), Some(&ada()));
    }

    #[test]
    fn withdrawn_help_request_stays_raised_until_it_is_renewed_or_resolved() {
        let mut flag = HelpFlag::default();
        assert!(!flag.withdraw(at(5)), "nothing to withdraw");
        flag.raise(&ben(), Some(message("stuck")), at(10));
        assert!(flag.withdraw(at(20)));
        assert!(!flag.withdraw(at(30)), "a change only once");
        assert_eq!((flag.needs_help(), flag.withdrawn_at()), (true, Some(at(20))));
        assert_eq!(flag.raise(&ben(), None, at(40)), HelpRequestOutcome::Renewed);
        assert_eq!((flag.withdrawn_at(), flag.requested_at()), (None, Some(at(10))));
        assert_eq!(flag.message(), Some(&message("stuck")));
        assert!(flag.claim(&ada()));
        flag.withdraw(at(50));
        assert_eq!(flag.claimed_by(), None);
        assert_eq!(flag.resolve(&ada(), at(60)), Some(50));
        assert_eq!(flag.withdrawn_at(), None);
    }

    #[test]
    fn withdrawn_help_request_is_last_in_the_queue() {
        let mut flags = [at(10), at(20), at(30)].map(|now| {
            let mut flag = HelpFlag::default();
            flag.raise(&ben(), None, now);
            flag
        });
        flags[0].withdraw(at(40));
        flags.sort_by_key(HelpFlag::queue_position);
        assert_eq!(
            flags.map(|flag| flag.requested_at()),
            [20, 30, 10].map(|seconds| Some(at(seconds)))
        );
        assert_eq!(HelpFlag::default().queue_position(), None);
    }

    proptest! {
        #[test]
        fn time_of_open_help_request_never_changes(steps in prop::collection::vec((0_u8..5, any::<bool>()), 1..40)) {
            let mut flag = HelpFlag::default();
            let (mut expected, mut is_withdrawn) = (None, false);
            for (second, (step, with_message)) in steps.into_iter().enumerate() {
                let now = at(i64::try_from(second).expect("fewer than forty steps"));
                match step {
                    0 | 1 => {
                        let raise = flag.raise(&ben(), with_message.then(|| HelpMessage::stored("x")), now);
                        prop_assert_eq!(raise == HelpRequestOutcome::First, expected.is_none());
                        prop_assert_eq!(raise == HelpRequestOutcome::Renewed, is_withdrawn);
                        is_withdrawn = false;
                        expected = expected.or(Some(now));
                    }
                    2 => { flag.claim(&ada()); }
                    3 => is_withdrawn |= flag.withdraw(now),
                    _ => {
                        is_withdrawn = false;
                        let waited = flag.resolve(&ada(), now);
                        prop_assert_eq!(waited, expected.map(|since: Timestamp| now.seconds_since(since)));
                        expected = None;
                    }
                }
                prop_assert_eq!(flag.requested_at(), expected);
                prop_assert_eq!(flag.withdrawn_at().is_some(), is_withdrawn);
                prop_assert_eq!(HelpFlag::from(HelpColumns::from(flag.clone())), flag.clone());
            }
        }
    }
}
