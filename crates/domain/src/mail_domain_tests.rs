use super::*;

fn parsed(text: &str) -> Result<String, MailDomainError> {
    MailDomainName::parse(text).map(|name| name.as_str().to_owned())
}

fn at(days: i64) -> Timestamp {
    Timestamp::from_millis(1_000).plus_seconds(days * DAY)
}

fn domain() -> MailDomain {
    MailDomain::pending(
        MailDomainId::new("d"),
        OrganizationId::new("north"),
        MailDomainName::parse("north.example").expect("a domain"),
        "token".to_owned(),
        at(0),
    )
}

fn verified() -> MailDomain {
    let mut domain = domain();
    assert_eq!(
        domain.prove(RecordCheck::Found, false, at(0)),
        Ok(DomainCheckOutcome::Verified)
    );
    domain
}

#[test]
fn domain_has_one_spelling() {
    for same in ["north.example", " North.Example ", "@north.example", "north.example."] {
        assert_eq!(parsed(same).as_deref(), Ok("north.example"), "{same}");
    }
    assert_eq!(
        parsed("xn--schler-4ya.example").as_deref(),
        Ok("xn--schler-4ya.example")
    );
    for wrong in [
        "",
        ".",
        "example",
        "a@b.example",
        "-a.example",
        "a-.example",
        "a..example",
        "192.0.2.7",
        "[::1]",
        "sch\u{fc}le.example",
        "north.example/x",
        "north.example:25",
        "_dmarc.north.example",
        "*.example",
    ] {
        assert_eq!(parsed(wrong), Err(MailDomainError::NotADomain), "{wrong}");
    }
    assert_eq!(
        parsed(&format!("{}.example", "a.".repeat(130))),
        Err(MailDomainError::NotADomain)
    );
}

#[test]
fn public_mail_host_and_suffix_cannot_be_assigned() {
    for host in [
        "gmail.com",
        "GMX.de",
        "web.de",
        "outlook.com",
        "mail.web.de",
        "x.y.gmail.com",
        "yahoo.co.uk",
    ] {
        assert_eq!(parsed(host), Err(MailDomainError::PublicMailHost), "{host}");
    }
    for suffix in ["co.uk", "ac.at", "sch.id", "com.au", "gv.at"] {
        assert_eq!(parsed(suffix), Err(MailDomainError::PublicSuffix), "{suffix}");
    }
    for own in [
        "notgmail.com",
        "school.co.uk",
        "gmail.com.school.example",
        "web.de.school.example",
    ] {
        assert!(parsed(own).is_ok(), "{own}");
    }
    let hosts: Vec<_> = PUBLIC_MAIL_HOSTS
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    assert!(hosts.len() > 100 && hosts.iter().all(|host| is_host(host)), "{hosts:?}");
}

#[test]
fn only_exact_domain_of_address_matches() {
    let of = |address: &str| MailDomainName::of_address(address).map(|name| name.as_str().to_owned());
    assert_eq!(of("ada@north.example").as_deref(), Some("north.example"));
    assert_eq!(of("\"a@b\"@north.example").as_deref(), Some("north.example"));
    assert_eq!(of("ada@mail.north.example").as_deref(), Some("mail.north.example"));
    assert_eq!(of("ada@gmail.com"), None);
    assert_eq!(of("ada"), None);
}

#[test]
fn domain_is_verified_by_its_record_only() {
    let mut claimed = domain();
    assert_eq!(
        claimed.prove(RecordCheck::Missing, false, at(1)),
        Err(DomainError::DomainNotProven)
    );
    assert_eq!(
        claimed.prove(RecordCheck::Unanswered, false, at(1)),
        Err(DomainError::DomainUnanswered)
    );
    assert_eq!(
        claimed.prove(RecordCheck::Found, true, at(1)),
        Err(DomainError::DomainHeld)
    );
    assert_eq!(claimed, domain(), "nothing changed");
    assert!(!claimed.counts());
    let held = verified();
    assert!(held.counts());
    assert_eq!(held.next_check_at, Some(at(7)));
}

#[test]
fn missing_record_removes_domain_after_grace_period() {
    let mut held = verified();
    assert_eq!(held.recheck(RecordCheck::Missing, at(7)), DomainCheckOutcome::Failing);
    assert!(!held.counts() && held.status == MailDomainStatus::Verified);
    assert_eq!(held.next_check_at, Some(at(8)));
    assert_eq!(
        held.recheck(RecordCheck::Unanswered, at(8)),
        DomainCheckOutcome::Unchanged
    );
    let mut back = held.clone();
    assert_eq!(back.recheck(RecordCheck::Found, at(9)), DomainCheckOutcome::Unchanged);
    assert!(back.counts() && back.failed_checks == 0);
    assert_eq!(
        held.recheck(RecordCheck::Missing, at(20)),
        DomainCheckOutcome::Unchanged
    );
    assert_eq!(held.recheck(RecordCheck::Missing, at(21)), DomainCheckOutcome::Lost);
    assert!(!held.counts() && held.verified_at.is_none() && held.next_check_at.is_none());
    // A lost domain is regained only by verification, and not while another organization holds it.
    assert_eq!(
        held.prove(RecordCheck::Found, true, at(22)),
        Err(DomainError::DomainHeld)
    );
    assert_eq!(
        held.prove(RecordCheck::Found, false, at(22)),
        Ok(DomainCheckOutcome::Verified)
    );
}

#[test]
fn first_check_after_long_downtime_keeps_domain() {
    let mut held = verified();
    assert_eq!(
        held.recheck(RecordCheck::Unanswered, at(7)),
        DomainCheckOutcome::Failing
    );
    assert_eq!(
        held.recheck(RecordCheck::Unanswered, at(200)),
        DomainCheckOutcome::Unchanged
    );
    assert_eq!(held.recheck(RecordCheck::Unanswered, at(201)), DomainCheckOutcome::Lost);
}

#[test]
fn domain_of_a_super_admin_is_not_checked() {
    let mut set = domain();
    assert!(set.confirm(at(1)));
    assert!(!set.confirm(at(2)), "it is held already");
    assert_eq!(
        set.recheck(RecordCheck::Missing, at(400)),
        DomainCheckOutcome::Unchanged
    );
    assert_eq!(
        set.prove(RecordCheck::Missing, true, at(400)),
        Ok(DomainCheckOutcome::Unchanged)
    );
    assert!(set.counts() && set.next_check_at.is_none());
}
