#![expect(clippy::unwrap_used, reason = "tests may panic")]
use garde::Validate;
use serde_json::json;

use super::*;

fn school() -> Organization {
    Organization {
        id: OrganizationId::new("north"),
        name: Name::stored("North School"),
        slug: Slug::stored("north"),
        custom_domain: None,
        logo: None,
        status: OrganizationStatus::Active,
        metadata: None,
        storage_quota: None,
        group_storage_quota: None,
        created_at: Timestamp::from_millis(1),
        updated_at: Timestamp::from_millis(1),
    }
}

fn edit(value: serde_json::Value) -> OrganizationEdit {
    let edit: OrganizationEdit = serde_json::from_value(value).unwrap();
    edit.validate().unwrap();
    edit
}

#[test]
fn slugs_are_short_lower_case_and_plain() {
    let fits = |text: &str| Slug::try_from(text).is_ok();
    assert!(fits("north-school") && fits("7b") && fits(&"a".repeat(63)));
    for bad in ["a", "North", "north.school", "nörd", "", &"a".repeat(64)] {
        assert!(!fits(bad), "{bad}");
    }
}

#[test]
fn custom_domain_is_a_bare_host() {
    let fits = |text: &str| CustomDomain::try_from(text).is_ok();
    assert!(fits("learn.school.example") && fits("xn--schle-kva.example") && fits("a.de"));
    for bad in [
        "school",
        "Learn.school.example",
        "learn.school.example.",
        "learn.school.example:8080",
        "https://learn.school.example",
        "learn..example",
        "-learn.example",
        "learn_school.example",
        "192.0.2.1",
        "schüle.example",
        "learn.example/path",
    ] {
        assert!(!fits(bad), "{bad}");
    }
}

#[test]
fn logo_must_be_a_web_url() {
    let fits = |text: &str| WebAddress::try_from(text).is_ok();
    assert!(fits("https://school.example/logo.png?v=1"));
    for bad in [
        "javascript:alert(1)",
        "data:image/png;base64,AA",
        "//school.example/x",
        "https:///x",
        "https://x/\"y",
    ] {
        assert!(!fits(bad), "{bad}");
    }
}

#[test]
fn settings_change_per_key_and_reject_unknown_keys() {
    let mut school = school();
    let first =
        json!({"metadata": {"gradeScale": "1-6", "retentionDays": 400, "features": {"teachersAddSubjects": true}}});
    let changed = school.edit(edit(first), Timestamp::from_millis(2)).unwrap();
    assert_eq!(changed.names(), ["metadata"]);
    let second = json!({"metadata": {"retentionDays": null, "lateDefault": "BLOCK"}});
    school.edit(edit(second.clone()), Timestamp::from_millis(3)).unwrap();
    let settings = school.settings();
    assert_eq!(settings.grade_scale.as_ref().map(GradeScale::as_str), Some("1-6"));
    assert_eq!(settings.late_default, Some(LatePolicy::Block));
    assert!(settings.features.teachers_add_subjects);
    assert!(school.edit(edit(second), Timestamp::from_millis(4)).unwrap().is_empty());
    school
        .edit(edit(json!({"metadata": null})), Timestamp::from_millis(5))
        .unwrap();
    assert_eq!(school.metadata, None);
    for bad in [
        json!({"color": "red"}),
        json!({"features": {"chess": true}}),
        json!({"lateDefault": "MAYBE"}),
    ] {
        assert!(serde_json::from_value::<MetadataEdit>(bad.clone()).is_err(), "{bad}");
    }
}

#[test]
fn retention_days_are_accepted_and_not_stored() {
    let mut school = school();
    for sent in [json!(400), json!(null), json!("a year")] {
        let sent = json!({"metadata": {"retentionDays": sent, "locale": "de"}});
        school.edit(edit(sent), Timestamp::from_millis(2)).unwrap();
    }
    let stored: Metadata = serde_json::from_value(json!({"locale": "de", "retentionDays": 400})).unwrap();
    assert_eq!(school.settings(), stored);
    assert_eq!(serde_json::to_value(stored).unwrap(), json!({"locale": "de"}));
}

#[test]
fn stored_settings_are_bounded_and_ignore_unknown_keys() {
    let wide = |count: usize| "\u{1F393}".repeat(count);
    let largest = json!({
        "gradeScale": wide(200), "timezone": wide(64), "locale": wide(35), "retentionDays": 36500,
        "lateDefault": "ALLOW", "features": {"teachersAddSubjects": true},
    });
    let edit: MetadataEdit = serde_json::from_value(largest).unwrap();
    edit.validate().unwrap();
    let mut metadata = Metadata::default();
    metadata.edit(edit);
    assert!(serde_json::to_string(&metadata).unwrap().len() < 16 * 1024);
    let newer: Metadata =
        serde_json::from_value(json!({"locale": "de", "somethingNew": 1, "features": {"x": 1}})).unwrap();
    assert_eq!(serde_json::to_value(newer).unwrap(), json!({"locale": "de"}));
}

#[test]
fn host_of_platform_or_other_school_is_rejected() {
    let hosts = PlatformHosts {
        base_domain: Some("schools.example".to_owned()),
        frontend: Some("app.schools.example".to_owned()),
    };
    let slug = |text: &str| hosts.leave(Some(&Slug::stored(text)), None);
    let domain = |text: &str| hosts.leave(None, Some(&CustomDomain::stored(text)));
    assert!(slug("north").is_ok() && slug("app").is_err());
    assert!(domain("learn.north.example").is_ok() && domain("myschools.example").is_ok());
    for bad in [
        "schools.example",
        "south.schools.example",
        "app.schools.example",
        "a.b.schools.example",
    ] {
        assert!(domain(bad).is_err(), "{bad}");
    }
    let elsewhere = PlatformHosts {
        base_domain: None,
        frontend: Some("work.example".to_owned()),
    };
    assert!(
        elsewhere
            .leave(None, Some(&CustomDomain::stored("work.example")))
            .is_err()
    );
    assert!(elsewhere.leave(Some(&Slug::stored("app")), None).is_ok());
}

#[test]
fn suspending_twice_changes_nothing() {
    let mut school = school();
    assert!(school.set_status(OrganizationStatus::Suspended, Timestamp::from_millis(2)));
    assert!(!school.set_status(OrganizationStatus::Suspended, Timestamp::from_millis(3)));
    assert_eq!(school.updated_at, Timestamp::from_millis(2));
}
