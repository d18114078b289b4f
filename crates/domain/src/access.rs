//! Authorization model: roles, the effective role they result in, the access level a route requires, and rank among
//! members. Checks of a single object live in the module of that object.

use serde::{Deserialize, Serialize};

use crate::domain_error::DomainError;
use crate::id::UserId;
use crate::string_enum::string_enum;

string_enum! {
    /// Role of an account on the platform. Only `SUPER_ADMIN` grants permissions; the other values are defaults.
    PlatformRole {
        /// Administers the platform across all organizations.
        SuperAdmin = "SUPER_ADMIN",
        /// Default for future administrators of an organization.
        Admin = "ADMIN",
        /// Default for future teachers.
        Teacher = "TEACHER",
        /// Default for future students.
        Student = "STUDENT",
    }
}

string_enum! {
    /// Role of a member in one organization. It determines the permissions of the member there.
    MemberRole {
        /// Owns the organization and may appoint other owners.
        Owner = "owner",
        Admin = "admin",
        Teacher = "teacher",
        Student = "student",
    }
}

/// Access level that a route requires of its caller, declared together with the route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Access {
    /// Any caller, with or without a session.
    Anyone,
    /// Any caller with a session, with or without an organization.
    SignedIn,
    /// Any member of the organization.
    Member,
    /// Only students of the organization.
    Student,
    /// Teachers, admins and owners of the organization.
    Staff,
    /// Owners and admins of the organization.
    Admin,
    /// Platform administrators.
    SuperAdmin,
    /// The document server, authenticated by its own token.
    DocumentServer,
}

/// Effective role of a caller in the resolved organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EffectiveRole {
    /// No session.
    Anonymous,
    /// A session, but no membership of the resolved organization.
    NonMember,
    /// A student of the organization.
    Student,
    /// A teacher of the organization.
    Teacher,
    /// An owner or admin of the organization.
    Admin,
    /// A platform administrator.
    SuperAdmin,
}

/// Returns the effective role of a signed-in user. The member role decides; of the platform roles only `SUPER_ADMIN`
/// counts.
pub const fn effective_role(platform: PlatformRole, member: Option<MemberRole>) -> EffectiveRole {
    match (platform, member) {
        (PlatformRole::SuperAdmin, _) => EffectiveRole::SuperAdmin,
        (_, Some(MemberRole::Owner | MemberRole::Admin)) => EffectiveRole::Admin,
        (_, Some(MemberRole::Teacher)) => EffectiveRole::Teacher,
        (_, Some(MemberRole::Student)) => EffectiveRole::Student,
        (_, None) => EffectiveRole::NonMember,
    }
}

impl EffectiveRole {
    /// Every value, lowest first.
    pub const ALL: [Self; 6] = [
        Self::Anonymous,
        Self::NonMember,
        Self::Student,
        Self::Teacher,
        Self::Admin,
        Self::SuperAdmin,
    ];

    /// Returns the view this caller has of the objects of the organization; `None` for callers without access to them.
    pub fn viewer(self, user: UserId) -> Option<Viewer> {
        match self {
            Self::SuperAdmin | Self::Admin => Some(Viewer::Admin),
            Self::Teacher => Some(Viewer::Teacher(user)),
            Self::Student => Some(Viewer::Student(user)),
            Self::Anonymous | Self::NonMember => None,
        }
    }
}

impl Access {
    /// Every access level.
    pub const ALL: [Self; 8] = [
        Self::Anyone,
        Self::SignedIn,
        Self::Member,
        Self::Student,
        Self::Staff,
        Self::Admin,
        Self::SuperAdmin,
        Self::DocumentServer,
    ];

    /// Returns whether a caller with this effective role may call the route. Always false for `DocumentServer`, which
    /// authenticates by token.
    pub fn allows(self, effective_role: EffectiveRole) -> bool {
        use EffectiveRole as S;
        match self {
            Self::Anyone => true,
            Self::SignedIn => !matches!(effective_role, S::Anonymous),
            Self::Member => matches!(effective_role, S::Student | S::Teacher | S::Admin | S::SuperAdmin),
            Self::Student => matches!(effective_role, S::Student),
            Self::Staff => matches!(effective_role, S::Teacher | S::Admin | S::SuperAdmin),
            Self::Admin => matches!(effective_role, S::Admin | S::SuperAdmin),
            Self::SuperAdmin => matches!(effective_role, S::SuperAdmin),
            Self::DocumentServer => false,
        }
    }

    /// Returns whether callers need a resolved organization for such a route (`SUPER_ADMIN` callers never do).
    pub const fn needs_organization(self) -> bool {
        matches!(self, Self::Member | Self::Student | Self::Staff | Self::Admin)
    }
}

impl MemberRole {
    const fn level(self) -> u8 {
        match self {
            Self::Student => 0,
            Self::Teacher => 1,
            Self::Admin => 2,
            Self::Owner => 3,
        }
    }

    /// Returns the default platform role of an account created for a member of this role.
    pub const fn platform_role(self) -> PlatformRole {
        match self {
            Self::Owner | Self::Admin => PlatformRole::Admin,
            Self::Teacher => PlatformRole::Teacher,
            Self::Student => PlatformRole::Student,
        }
    }

    /// Returns whether a member of this role may act on, or assign, the other role: only strictly lower roles, except
    /// that owners may also act on owners.
    pub fn outranks(self, other: Self) -> bool {
        matches!(self, Self::Owner) || self.level() > other.level()
    }
}

/// Rank with which a caller acts on accounts and memberships.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RoleLevel {
    /// Above every member.
    SuperAdmin,
    /// As high as the member role.
    Member(MemberRole),
}

impl RoleLevel {
    /// Returns the rank of a caller; `None` for non-members, unless they are `SUPER_ADMIN`.
    pub fn of(platform: PlatformRole, member: Option<MemberRole>) -> Option<Self> {
        match platform {
            PlatformRole::SuperAdmin => Some(Self::SuperAdmin),
            _ => member.map(Self::Member),
        }
    }

    /// Returns the rank with which an API token acts for a user of this rank.
    #[must_use]
    pub fn at_most_administrator(self) -> Self {
        match self {
            Self::SuperAdmin | Self::Member(MemberRole::Owner) => Self::Member(MemberRole::Admin),
            Self::Member(MemberRole::Admin | MemberRole::Teacher | MemberRole::Student) => self,
        }
    }

    /// Returns whether this rank may act on a member of the given role, or assign that role.
    pub fn outranks(self, other: MemberRole) -> bool {
        match self {
            Self::SuperAdmin => true,
            Self::Member(role) => role.outranks(other),
        }
    }

    /// Rejects an action on a member who is not below this rank. Platform administrators are above every member,
    /// whatever their member role.
    pub fn may_act_on(self, platform: PlatformRole, member: MemberRole) -> Result<(), DomainError> {
        let is_below = match self {
            Self::SuperAdmin => true,
            Self::Member(_) => !matches!(platform, PlatformRole::SuperAdmin) && self.outranks(member),
        };
        if is_below {
            Ok(())
        } else {
            Err(DomainError::ForbiddenRank)
        }
    }

    /// Rejects a role change unless both the present and the new role are below this rank.
    pub fn may_change(self, from: MemberRole, to: MemberRole) -> Result<(), DomainError> {
        if self.outranks(from) && self.outranks(to) {
            Ok(())
        } else {
            Err(DomainError::ForbiddenRank)
        }
    }
}

/// View that a caller has of the objects of an organization. Determines which objects and fields are visible.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Viewer {
    /// Sees the whole organization.
    Admin,
    /// Sees everything in the classes the teacher manages, and outlines of the other classes.
    Teacher(UserId),
    /// Sees the classes the student is enrolled in and the student's own visible groups.
    Student(UserId),
}

impl Viewer {
    /// Role as compared in SQL: `ADMIN`, `TEACHER` or `STUDENT`.
    pub const fn role_text(&self) -> &'static str {
        match self {
            Self::Admin => "ADMIN",
            Self::Teacher(_) => "TEACHER",
            Self::Student(_) => "STUDENT",
        }
    }

    /// User id as compared in SQL; empty for an admin, for whom no id is compared.
    pub fn user_text(&self) -> &str {
        match self {
            Self::Admin => "",
            Self::Teacher(user) | Self::Student(user) => user.as_str(),
        }
    }

    /// Returns whether fields reserved for staff may be shown.
    pub const fn is_staff(&self) -> bool {
        matches!(self, Self::Admin | Self::Teacher(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_keep_their_stored_words() {
        for role in PlatformRole::ALL {
            assert_eq!(PlatformRole::parse(role.as_str()), Some(*role));
            assert_eq!(serde_json::json!(role), serde_json::json!(role.as_str()));
        }
        assert_eq!(MemberRole::parse("owner"), Some(MemberRole::Owner));
        assert_eq!(MemberRole::parse("OWNER"), None);
    }

    #[test]
    fn the_member_role_wins_over_the_platform_role() {
        assert_eq!(
            effective_role(PlatformRole::Admin, Some(MemberRole::Student)),
            EffectiveRole::Student
        );
        assert_eq!(
            effective_role(PlatformRole::Student, Some(MemberRole::Owner)),
            EffectiveRole::Admin
        );
        assert_eq!(effective_role(PlatformRole::Admin, None), EffectiveRole::NonMember);
        assert_eq!(
            effective_role(PlatformRole::SuperAdmin, Some(MemberRole::Student)),
            EffectiveRole::SuperAdmin
        );
    }

    #[test]
    fn super_admin_passes_all_rules_but_student_and_docserver() {
        for access in Access::ALL {
            let expected = !matches!(access, Access::Student | Access::DocumentServer);
            assert_eq!(access.allows(EffectiveRole::SuperAdmin), expected, "{access:?}");
        }
    }

    #[test]
    fn each_role_passes_exactly_its_access_rules() {
        let doors = |effective_role| {
            Access::ALL
                .into_iter()
                .filter(|access| access.allows(effective_role))
                .collect::<Vec<_>>()
        };
        assert_eq!(doors(EffectiveRole::Anonymous), [Access::Anyone]);
        assert_eq!(doors(EffectiveRole::NonMember), [Access::Anyone, Access::SignedIn]);
        assert_eq!(
            doors(EffectiveRole::Student),
            [Access::Anyone, Access::SignedIn, Access::Member, Access::Student]
        );
        assert_eq!(
            doors(EffectiveRole::Teacher),
            [Access::Anyone, Access::SignedIn, Access::Member, Access::Staff]
        );
        assert_eq!(
            doors(EffectiveRole::Admin),
            [
                Access::Anyone,
                Access::SignedIn,
                Access::Member,
                Access::Staff,
                Access::Admin
            ]
        );
    }

    #[test]
    fn only_a_strictly_higher_rank_acts_except_owners_on_owners() {
        use MemberRole::{Admin, Owner, Student, Teacher};
        assert!(Admin.outranks(Teacher) && Teacher.outranks(Student) && Owner.outranks(Admin));
        assert!(Owner.outranks(Owner));
        assert!(!Admin.outranks(Admin) && !Teacher.outranks(Teacher) && !Student.outranks(Student));
        assert!(!Admin.outranks(Owner));
        assert_eq!(
            RoleLevel::Member(Admin).may_change(Teacher, Admin),
            Err(DomainError::ForbiddenRank)
        );
        assert_eq!(RoleLevel::Member(Admin).may_change(Student, Teacher), Ok(()));
        assert_eq!(RoleLevel::SuperAdmin.may_change(Owner, Admin), Ok(()));
    }

    #[test]
    fn only_super_admin_acts_on_super_admins() {
        use MemberRole::{Owner, Student};
        let owner = RoleLevel::Member(Owner);
        assert_eq!(owner.may_act_on(PlatformRole::Admin, Owner), Ok(()));
        assert_eq!(
            owner.may_act_on(PlatformRole::SuperAdmin, Student),
            Err(DomainError::ForbiddenRank)
        );
        assert_eq!(
            RoleLevel::SuperAdmin.may_act_on(PlatformRole::SuperAdmin, Owner),
            Ok(())
        );
    }
}
