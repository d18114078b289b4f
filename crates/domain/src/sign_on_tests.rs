#![expect(clippy::unwrap_used, reason = "tests may panic")]
use super::*;

fn candidate() -> LinkCandidate {
    LinkCandidate {
        user: UserId::new("ben"),
        platform_role: PlatformRole::Student,
        member_role: MemberRole::Student,
        is_home: true,
        is_linked: false,
    }
}

#[test]
fn rules_link_students_and_teachers_without_identity() {
    for member_role in [MemberRole::Student, MemberRole::Teacher] {
        let candidate = LinkCandidate {
            member_role,
            ..candidate()
        };
        assert_eq!(may_link(&candidate, LinkingRule::ExternalId), Ok(()));
        assert_eq!(may_link(&candidate, LinkingRule::VerifiedDomain), Ok(()));
        assert_eq!(
            may_link(&candidate, LinkingRule::Administrator),
            Err(SignOnDenial::NotLinked)
        );
    }
    for member_role in [MemberRole::Admin, MemberRole::Owner] {
        let candidate = LinkCandidate {
            member_role,
            ..candidate()
        };
        for rule in LinkingRule::ALL {
            assert_eq!(may_link(&candidate, *rule), Err(SignOnDenial::NotLinked), "{rule}");
        }
    }
}

#[test]
fn address_links_only_accounts_of_the_organization() {
    let shared = LinkCandidate {
        is_home: false,
        ..candidate()
    };
    assert_eq!(
        may_link(&shared, LinkingRule::VerifiedDomain),
        Err(SignOnDenial::NotLinked)
    );
    assert_eq!(may_link(&shared, LinkingRule::ExternalId), Ok(()));
}

#[test]
fn linked_account_gets_no_second_identity() {
    let linked = LinkCandidate {
        is_linked: true,
        ..candidate()
    };
    for rule in [LinkingRule::ExternalId, LinkingRule::VerifiedDomain] {
        assert_eq!(may_link(&linked, rule), Err(SignOnDenial::LinkedToAnotherIdentity));
    }
}

#[test]
fn platform_administrator_is_never_linked_or_signed_in() {
    let candidate = LinkCandidate {
        platform_role: PlatformRole::SuperAdmin,
        ..candidate()
    };
    for rule in LinkingRule::ALL {
        assert_eq!(may_link(&candidate, *rule), Err(SignOnDenial::PlatformAdministrator));
    }
    let owner = IdentityOwner {
        user: UserId::new("root"),
        platform_role: PlatformRole::SuperAdmin,
        is_active: true,
        is_banned: false,
        member_role: Some(MemberRole::Teacher),
        linked_by: LinkedBy::Administrator,
    };
    assert_eq!(may_sign_in(&owner), Err(SignOnDenial::PlatformAdministrator));
}

#[test]
fn administrator_needs_an_identity_that_was_linked_by_hand() {
    let owner = |member_role, linked_by| IdentityOwner {
        user: UserId::new("ada"),
        platform_role: PlatformRole::Student,
        is_active: true,
        is_banned: false,
        member_role: Some(member_role),
        linked_by,
    };
    for linked_by in LinkedBy::ALL {
        assert_eq!(may_sign_in(&owner(MemberRole::Teacher, *linked_by)), Ok(()));
        for role in [MemberRole::Admin, MemberRole::Owner] {
            let may = may_sign_in(&owner(role, *linked_by));
            assert_eq!(may.is_ok(), *linked_by == LinkedBy::Administrator, "{role} {linked_by}");
        }
    }
}

#[test]
fn only_verified_address_of_held_domain_is_proven() {
    let claims = |email: &str, is_email_verified| IdentityClaims {
        issuer: "https://id.school.example".to_owned(),
        subject: "s".to_owned(),
        email: Some(email.to_owned()),
        is_email_verified,
        name: None,
        external_id: None,
        roles: Vec::new(),
        session: None,
    };
    let held = ["school.example".to_owned()];
    assert_eq!(
        claims("ben@school.example", true).proven_address(&held).unwrap(),
        "ben@school.example"
    );
    for (email, is_verified) in [
        ("ben@school.example", false),
        ("ben@evil.example", true),
        ("ben@sub.school.example", true),
        ("ben@school.example.evil.example", true),
        ("ben", true),
    ] {
        assert_eq!(claims(email, is_verified).proven_address(&held), None, "{email}");
    }
}
