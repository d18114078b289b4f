//! Who may ask what: roles, the standing they give, what a route demands, and rank among members.
//! Nothing here looks at a single object; that is the business of the nouns.

use serde::{Deserialize, Serialize};

use crate::id::UserId;
use crate::policy::{self, Clause};
use crate::refusal::Refusal;
use crate::word::words;

words! {
    /// Role of an account on the whole platform; only `SUPER_ADMIN` decides anything, the others are defaults.
    PlatformRole {
        /// Runs the platform, across all organizations.
        SuperAdmin = "SUPER_ADMIN",
        /// Default for people who will administer a school.
        Admin = "ADMIN",
        /// Default for people who will teach.
        Teacher = "TEACHER",
        /// Default for people who will learn.
        Student = "STUDENT",
    }
}

words! {
    /// Role of a member in one organization; this is what counts there.
    MemberRole {
        /// Owns the organization; may name other owners.
        Owner = "owner",
        /// Administers the organization.
        Admin = "admin",
        /// Teaches in the organization.
        Teacher = "teacher",
        /// Learns in the organization.
        Student = "student",
    }
}

/// What a route demands of its caller, declared beside the route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Access {
    /// Everybody, also without a session.
    Anyone,
    /// Everybody with a session, also without an organization.
    SignedIn,
    /// Every member of the organization.
    Member,
    /// Students of the organization, nobody else.
    Student,
    /// Teachers and admins of the organization.
    Staff,
    /// Owners and admins of the organization.
    Admin,
    /// Those who run the platform.
    SuperAdmin,
    /// The document server, by its own token; no person.
    DocumentServer,
}

/// What someone is, seen from the resolved organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Standing {
    /// No session.
    Stranger,
    /// A session, but no membership of the resolved organization.
    Outsider,
    /// A student of the organization.
    Student,
    /// A teacher of the organization.
    Teacher,
    /// An owner or admin of the organization.
    Admin,
    /// Runs the platform.
    SuperAdmin,
}

/// The standing of a signed-in user: the member role decides, and only `SUPER_ADMIN` of the platform role counts.
pub const fn standing(platform: PlatformRole, member: Option<MemberRole>) -> Standing {
    match (platform, member) {
        (PlatformRole::SuperAdmin, _) => Standing::SuperAdmin,
        (_, Some(MemberRole::Owner | MemberRole::Admin)) => Standing::Admin,
        (_, Some(MemberRole::Teacher)) => Standing::Teacher,
        (_, Some(MemberRole::Student)) => Standing::Student,
        (_, None) => Standing::Outsider,
    }
}

impl Standing {
    /// Every standing, lowest first.
    pub const ALL: [Self; 6] = [
        Self::Stranger,
        Self::Outsider,
        Self::Student,
        Self::Teacher,
        Self::Admin,
        Self::SuperAdmin,
    ];

    /// How this standing looks at the objects of the organization; none for those who have no business there.
    pub fn viewer(self, user: UserId) -> Option<Viewer> {
        match self {
            Self::SuperAdmin | Self::Admin => Some(Viewer::Admin),
            Self::Teacher => Some(Viewer::Teacher(user)),
            Self::Student => Some(Viewer::Student(user)),
            Self::Stranger | Self::Outsider => None,
        }
    }
}

impl Access {
    /// Every demand a route can make.
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

    /// Whether someone of this standing may call; the document server proves itself by a token, never by a standing.
    pub fn admits(self, standing: Standing) -> bool {
        use Standing as S;
        let is_for_him = match self {
            Self::Anyone => true,
            Self::SignedIn => !matches!(standing, S::Stranger),
            Self::Member => matches!(standing, S::Student | S::Teacher | S::Admin | S::SuperAdmin),
            Self::Student => matches!(standing, S::Student),
            Self::Staff => matches!(standing, S::Teacher | S::Admin | S::SuperAdmin),
            Self::Admin => matches!(standing, S::Admin | S::SuperAdmin),
            Self::SuperAdmin => matches!(standing, S::SuperAdmin),
            Self::DocumentServer => false,
        };
        policy::holds(Clause::RoleOfRoute, is_for_him)
    }

    /// Whether a caller needs a resolved organization for such a route (a `SUPER_ADMIN` never does).
    pub const fn needs_organization(self) -> bool {
        matches!(self, Self::Member | Self::Student | Self::Staff | Self::Admin)
    }
}

impl MemberRole {
    const fn height(self) -> u8 {
        match self {
            Self::Student => 0,
            Self::Teacher => 1,
            Self::Admin => 2,
            Self::Owner => 3,
        }
    }

    /// The platform role of an account that is made for a member of this role; it decides nothing.
    pub const fn platform_role(self) -> PlatformRole {
        match self {
            Self::Owner | Self::Admin => PlatformRole::Admin,
            Self::Teacher => PlatformRole::Teacher,
            Self::Student => PlatformRole::Student,
        }
    }

    /// Whether someone of this role may act on, or name, someone of the other: strictly lower, except that owners may do so with owners.
    pub fn outranks(self, other: Self) -> bool {
        policy::holds(
            Clause::Rank,
            matches!(self, Self::Owner) || self.height() > other.height(),
        )
    }
}

/// The rank with which someone acts on accounts and memberships.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rank {
    /// Above every member.
    SuperAdmin,
    /// As high as the member role.
    Member(MemberRole),
}

impl Rank {
    /// The rank of a caller; none without a membership.
    pub fn of(platform: PlatformRole, member: Option<MemberRole>) -> Option<Self> {
        match platform {
            PlatformRole::SuperAdmin => Some(Self::SuperAdmin),
            _ => member.map(Self::Member),
        }
    }

    /// Whether this rank may act on a member of that role, or give somebody that role.
    pub fn outranks(self, other: MemberRole) -> bool {
        match self {
            Self::SuperAdmin => true,
            Self::Member(role) => role.outranks(other),
        }
    }

    /// Refuses to act on somebody who is not below this rank. Those who run the platform are above every member, whatever
    /// their part in the organization.
    pub fn may_act_on(self, platform: PlatformRole, member: MemberRole) -> Result<(), Refusal> {
        let is_below = match self {
            Self::SuperAdmin => true,
            Self::Member(_) => !matches!(platform, PlatformRole::SuperAdmin) && self.outranks(member),
        };
        if is_below { Ok(()) } else { Err(Refusal::ForbiddenRank) }
    }

    /// Refuses unless both the role somebody has and the role somebody shall get are below this rank.
    pub fn may_change(self, from: MemberRole, to: MemberRole) -> Result<(), Refusal> {
        if self.outranks(from) && self.outranks(to) {
            Ok(())
        } else {
            Err(Refusal::ForbiddenRank)
        }
    }
}

/// Whose eyes look at the objects of an organization.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Viewer {
    /// Sees the whole organization.
    Admin,
    /// Sees everything of the own classes, outlines of the others.
    Teacher(UserId),
    /// Sees the own classes and the own visible groups.
    Student(UserId),
}

impl Viewer {
    /// The word that SQL compares: ADMIN, TEACHER or STUDENT.
    pub const fn role_text(&self) -> &'static str {
        match self {
            Self::Admin => "ADMIN",
            Self::Teacher(_) => "TEACHER",
            Self::Student(_) => "STUDENT",
        }
    }

    /// The id that SQL compares; empty for an admin, who is not compared.
    pub fn user_text(&self) -> &str {
        match self {
            Self::Admin => "",
            Self::Teacher(user) | Self::Student(user) => user.as_str(),
        }
    }

    /// Whether staff fields may be shown at all.
    pub const fn is_staff(&self) -> bool {
        matches!(self, Self::Admin | Self::Teacher(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_keep_their_words() {
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
            standing(PlatformRole::Admin, Some(MemberRole::Student)),
            Standing::Student
        );
        assert_eq!(
            standing(PlatformRole::Student, Some(MemberRole::Owner)),
            Standing::Admin
        );
        assert_eq!(standing(PlatformRole::Admin, None), Standing::Outsider);
        assert_eq!(
            standing(PlatformRole::SuperAdmin, Some(MemberRole::Student)),
            Standing::SuperAdmin
        );
    }

    #[test]
    fn a_super_admin_passes_everything_but_student_and_document_server() {
        for access in Access::ALL {
            let expected = !matches!(access, Access::Student | Access::DocumentServer);
            assert_eq!(access.admits(Standing::SuperAdmin), expected, "{access:?}");
        }
    }

    #[test]
    fn each_standing_passes_exactly_its_doors() {
        let doors = |standing| {
            Access::ALL
                .into_iter()
                .filter(|access| access.admits(standing))
                .collect::<Vec<_>>()
        };
        assert_eq!(doors(Standing::Stranger), [Access::Anyone]);
        assert_eq!(doors(Standing::Outsider), [Access::Anyone, Access::SignedIn]);
        assert_eq!(
            doors(Standing::Student),
            [Access::Anyone, Access::SignedIn, Access::Member, Access::Student]
        );
        assert_eq!(
            doors(Standing::Teacher),
            [Access::Anyone, Access::SignedIn, Access::Member, Access::Staff]
        );
        assert_eq!(
            doors(Standing::Admin),
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
            Rank::Member(Admin).may_change(Teacher, Admin),
            Err(Refusal::ForbiddenRank)
        );
        assert_eq!(Rank::Member(Admin).may_change(Student, Teacher), Ok(()));
        assert_eq!(Rank::SuperAdmin.may_change(Owner, Admin), Ok(()));
    }

    #[test]
    fn nobody_but_the_platform_acts_on_those_who_run_it() {
        use MemberRole::{Owner, Student};
        let owner = Rank::Member(Owner);
        assert_eq!(owner.may_act_on(PlatformRole::Admin, Owner), Ok(()));
        assert_eq!(
            owner.may_act_on(PlatformRole::SuperAdmin, Student),
            Err(Refusal::ForbiddenRank)
        );
        assert_eq!(Rank::SuperAdmin.may_act_on(PlatformRole::SuperAdmin, Owner), Ok(()));
    }
}
