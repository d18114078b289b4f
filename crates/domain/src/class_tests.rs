//! Tests of classes: status, managers, archive and dates.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use garde::Validate;

use super::*;

fn class(status: ClassStatus) -> Class {
    Class {
        id: ClassId::new("7b"),
        organization_id: OrganizationId::new("school"),
        name: Name::stored("7b"),
        academic_year: AcademicYear::stored("2026/2027"),
        semester: None,
        start_date: None,
        end_date: None,
        status,
        teacher_id: UserId::new("ada"),
        homeroom_id: None,
        follows_homeroom: false,
        external_id: None,
        schedule: None,
        created_at: Timestamp::from_millis(1),
        updated_at: Timestamp::from_millis(1),
    }
}

fn ada() -> Viewer {
    Viewer::Teacher(UserId::new("ada"))
}

fn named(name: &str) -> ClassEdit {
    ClassEdit {
        name: FieldPatch::Value(Name::stored(name)),
        ..ClassEdit::default()
    }
}

fn to(status: ClassStatus) -> ClassEdit {
    ClassEdit {
        status: FieldPatch::Value(status),
        ..ClassEdit::default()
    }
}

const NOW: Timestamp = Timestamp::from_millis(9);

#[test]
fn the_status_changes_only_along_the_table() {
    use ClassStatus::{Active, Archived, Draft};
    for (from, wanted, is_empty, expected) in [
        (Draft, Active, false, Ok(Active)),
        (Draft, Archived, false, Ok(Archived)),
        (Active, Archived, false, Ok(Archived)),
        (Active, Draft, true, Ok(Draft)),
        (Active, Draft, false, Err(DomainError::ClassNotEmpty)),
        (Archived, Active, false, Ok(Active)),
        (Archived, Draft, true, Err(DomainError::ClassArchived)),
        (Archived, Archived, false, Ok(Archived)),
    ] {
        assert_eq!(from.change_to(wanted, is_empty), expected, "{from} to {wanted}");
    }
}

#[test]
fn only_owner_co_teacher_and_admin_manage_class() {
    let class = class(ClassStatus::Active);
    let co_teachers = [UserId::new("cem")];
    let managed = |viewer: Viewer| class.managed_by(&viewer, &co_teachers);
    assert!(managed(Viewer::Admin) && managed(ada()) && managed(Viewer::Teacher(UserId::new("cem"))));
    assert!(!managed(Viewer::Teacher(UserId::new("eve"))));
    // A former co-teacher who is now a student: the present role decides.
    assert!(!managed(Viewer::Student(UserId::new("ada"))) && !managed(Viewer::Student(UserId::new("cem"))));
    assert!(class.owned_by(&ada()) && !class.owned_by(&Viewer::Teacher(UserId::new("cem"))));
    assert_eq!(
        class.require_managed_by(&Viewer::Teacher(UserId::new("eve")), &co_teachers),
        Err(DomainError::NotClassTeacher)
    );
}

#[test]
fn students_do_not_see_drafts() {
    let ben = Viewer::Student(UserId::new("ben"));
    assert!(class(ClassStatus::Active).visible_to(&ben, true));
    assert!(class(ClassStatus::Archived).visible_to(&ben, true));
    assert!(!class(ClassStatus::Draft).visible_to(&ben, true));
    assert!(!class(ClassStatus::Active).visible_to(&ben, false));
    assert!(class(ClassStatus::Draft).visible_to(&ada(), false));
}

#[test]
fn archived_class_accepts_status_change_only() {
    let mut archived = class(ClassStatus::Archived);
    assert_eq!(
        archived.edit(named("8b"), &ada(), false, NOW),
        Err(DomainError::ClassArchived)
    );
    assert_eq!(archived.name.as_str(), "7b");
    let both = ClassEdit {
        status: FieldPatch::Value(ClassStatus::Active),
        ..named("8b")
    };
    assert_eq!(
        archived.edit(both, &ada(), false, NOW).unwrap().names(),
        ["status", "name"]
    );
    // Setting the name to its present value is not a change.
    let mut same = class(ClassStatus::Archived);
    assert!(same.edit(named("7b"), &ada(), false, NOW).unwrap().is_empty());
}

#[test]
fn a_refused_edit_leaves_the_class_as_it_was() {
    let mut running = class(ClassStatus::Active);
    let before = running.clone();
    let edit = ClassEdit {
        status: FieldPatch::Value(ClassStatus::Draft),
        ..named("8b")
    };
    assert_eq!(running.edit(edit, &ada(), false, NOW), Err(DomainError::ClassNotEmpty));
    assert_eq!(running, before);
    assert!(running.edit(to(ClassStatus::Draft), &ada(), true, NOW).is_ok());
    assert_eq!(running.updated_at, NOW);
}

#[test]
fn only_admins_change_class_owner() {
    let handed = || ClassEdit {
        teacher_id: FieldPatch::Value(UserId::new("cem")),
        ..ClassEdit::default()
    };
    assert_eq!(
        class(ClassStatus::Active).edit(handed(), &ada(), false, NOW),
        Err(DomainError::AdminOnly)
    );
    let mut class = class(ClassStatus::Active);
    class.edit(handed(), &Viewer::Admin, false, NOW).unwrap();
    assert_eq!(class.teacher_id, UserId::new("cem"));
}

#[test]
fn class_cannot_end_before_it_begins() {
    let at = |text: &str| FieldPatch::Value(Timestamp::parse(text).unwrap());
    let mut class = class(ClassStatus::Active);
    let start = ClassEdit {
        start_date: at("2026-08-01T00:00:00Z").map(DateOrTime::Time),
        ..ClassEdit::default()
    };
    class.edit(start, &ada(), false, NOW).unwrap();
    let end = ClassEdit {
        end_date: at("2026-07-31T00:00:00Z").map(DateOrTime::Time),
        ..ClassEdit::default()
    };
    let domain_error = class.edit(end, &ada(), false, NOW).unwrap_err();
    assert_eq!(
        (domain_error.code(), domain_error.details()[0].path),
        (crate::error_code::ErrorCode::ValidationError, "endDate")
    );
}

#[test]
fn the_lessons_of_a_schedule_are_checked() {
    let edit: ClassEdit =
        serde_json::from_str(r#"{"schedule": [{"weekday": 9, "start": "08:00", "end": "07:00"}]}"#).unwrap();
    let report = edit.validate().unwrap_err().to_string();
    assert!(
        report.contains("schedule[0].weekday") && report.contains("schedule[0].end: must be after start"),
        "{report}"
    );
    let cleared: ClassEdit = serde_json::from_str(r#"{"schedule": null, "subjectIds": []}"#).unwrap();
    assert!(cleared.validate().is_ok());
}

#[test]
fn class_follows_only_while_it_has_a_homeroom_and_is_not_archived() {
    let follow = |is_on: bool| ClassEdit {
        follows_homeroom: FieldPatch::Value(is_on),
        ..ClassEdit::default()
    };
    let mut class = class(ClassStatus::Active);
    let refused = class.edit(follow(true), &ada(), true, NOW).unwrap_err();
    assert_eq!(refused.code(), crate::error_code::ErrorCode::ValidationError);
    let start = ClassEdit {
        homeroom_id: FieldPatch::Value(HomeroomId::new("7b")),
        ..follow(true)
    };
    let changed = class.edit(start, &ada(), true, NOW).unwrap();
    assert!(changed.has("followsHomeroom") && class.is_following());
    assert_eq!(class.may_unenroll(true), Err(DomainError::ClassFollowsHomeroom));
    assert_eq!(class.may_unenroll(false), Ok(()));
    assert!(class.edit(follow(true), &ada(), true, NOW).unwrap().is_empty());
    class.edit(to(ClassStatus::Archived), &ada(), true, NOW).unwrap();
    assert!(class.follows_homeroom && !class.is_following());
    class.edit(to(ClassStatus::Active), &ada(), true, NOW).unwrap();
    let detach = ClassEdit {
        homeroom_id: FieldPatch::Null,
        ..ClassEdit::default()
    };
    let changed = class.edit(detach, &ada(), true, NOW).unwrap();
    assert!(changed.has("followsHomeroom") && !class.follows_homeroom);
    assert_eq!(class.may_unenroll(true), Ok(()));
}
