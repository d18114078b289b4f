//! Tests of rubrics: ranges of points, filled criteria, and completeness.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use super::*;
use crate::samples::ada;

#[expect(clippy::unnecessary_wraps, reason = "the fields are optional")]
fn points(points: f64) -> Option<Points> {
    Some(Points::stored(points))
}

fn level(label: &str, min: Option<Points>, max: Option<Points>) -> NewLevel {
    NewLevel {
        id: None,
        label: LevelLabel::stored(label),
        description: None,
        min_points: min,
        max_points: max,
    }
}

fn criterion(title: &str, levels: Vec<NewLevel>) -> NewCriterion {
    NewCriterion {
        id: None,
        title: CriterionTitle::stored(title),
        description: None,
        levels,
    }
}

/// Sources with fixed points, language with ranges, and teamwork without points. Ids are `1`, `2`, …
fn topic_rubric() -> TopicRubric {
    let new = NewCriteria(vec![
        criterion(
            "Sources",
            vec![
                level("none", points(0.0), points(0.0)),
                level("named", points(2.0), points(2.0)),
            ],
        ),
        criterion(
            "Language",
            vec![
                level("weak", points(0.0), points(3.0)),
                level("good", points(4.0), points(6.0)),
            ],
        ),
        criterion(
            "Teamwork",
            vec![level("alone", None, None), level("together", None, None)],
        ),
    ]);
    let mut next = 0;
    let criteria = new.with_ids(|| {
        next += 1;
        next.to_string()
    });
    TopicRubric {
        assignment_id: AssignmentId::new("a"),
        rubric_id: None,
        title: RubricTitle::stored("Poster"),
        criteria: criteria.unwrap(),
        is_shown: true,
    }
}

fn mark(rubric: &TopicRubric, criterion: usize, level: Option<usize>, points: Option<Points>) -> NewRubricMark {
    let criterion = &rubric.criteria[criterion];
    NewRubricMark {
        criterion_id: criterion.id.clone(),
        level_id: level.map(|level| criterion.levels[level].id.clone()),
        points,
        comment: None,
    }
}

fn code<T>(result: Result<T, DomainError>) -> Option<&'static str> {
    match result {
        Err(DomainError::Invalid { code, .. }) => Some(code),
        _ => None,
    }
}

#[test]
fn points_of_a_level_are_a_number_a_range_or_absent() {
    let with = |min, max| {
        let new = NewCriteria(vec![criterion("Sources", vec![level("named", min, max)])]);
        code(new.with_ids(String::new))
    };
    assert_eq!(with(None, None), None);
    assert_eq!(with(points(1.0), points(1.0)), None);
    assert_eq!(with(points(2.0), points(1.0)), Some("range"));
    assert_eq!(with(points(2.0), None), Some("range"));
    assert_eq!(max_points(&topic_rubric().criteria), points(8.0));
}

#[test]
fn filled_criteria_have_points_in_the_range_of_their_level() {
    let rubric = topic_rubric();
    let fill = |marks: &[NewRubricMark]| rubric.fill(marks);
    let filled = fill(&[mark(&rubric, 1, Some(1), points(5.0)), mark(&rubric, 0, Some(1), None)]).unwrap();
    let titles: Vec<&str> = filled.iter().map(|mark| mark.criterion.as_str()).collect();
    assert_eq!(titles, ["Sources", "Language"], "in the order of the rubric");
    assert_eq!((filled[0].points, points_of(&filled)), (points(2.0), points(7.0)));
    assert_eq!(code(fill(&[mark(&rubric, 1, Some(1), points(3.5))])), Some("range"));
    assert_eq!(code(fill(&[mark(&rubric, 1, None, points(1.0))])), Some("no_level"));
    assert_eq!(code(fill(&[mark(&rubric, 2, Some(0), points(1.0))])), Some("no_points"));
    let twice = [mark(&rubric, 0, Some(0), None), mark(&rubric, 0, Some(1), None)];
    assert_eq!(code(fill(&twice)), Some("duplicate"));
    let mut other = mark(&rubric, 0, Some(0), None);
    other.level_id = Some(rubric.criteria[1].levels[0].id.clone());
    assert_eq!(code(fill(&[other.clone()])), Some("unknown"));
    other.criterion_id = RubricCriterionId::new("gone");
    assert_eq!(code(fill(&[other])), Some("unknown"));
    assert_eq!(
        fill(&[mark(&rubric, 0, None, None)]).unwrap(),
        [],
        "nothing is filled in"
    );
}

#[test]
fn rubric_is_complete_when_every_criterion_has_a_level_and_its_points() {
    let rubric = topic_rubric();
    let mut marks = vec![
        mark(&rubric, 0, Some(0), None),
        mark(&rubric, 1, Some(0), None),
        mark(&rubric, 2, Some(0), None),
    ];
    let is_complete = |marks: &[NewRubricMark]| rubric.is_complete(&rubric.fill(marks).unwrap());
    assert!(!is_complete(&marks), "a range needs its points");
    marks[1].points = points(0.0);
    assert!(is_complete(&marks));
    assert!(!is_complete(&marks[..2]));
}

#[test]
fn owner_and_administrators_edit_a_rubric() {
    let rubric = Rubric {
        id: RubricId::new("r"),
        organization_id: OrganizationId::new("school"),
        owner_id: ada(),
        title: RubricTitle::stored("Poster"),
        is_shared: true,
        criteria: Vec::new(),
        created_at: Timestamp::from_millis(0),
        updated_at: Timestamp::from_millis(0),
    };
    let tom = UserId::new("tom");
    assert!(rubric.editable_by(&Viewer::Teacher(ada()), &ada()).is_ok());
    assert!(rubric.editable_by(&Viewer::Admin, &tom).is_ok());
    assert_eq!(
        rubric.editable_by(&Viewer::Teacher(tom.clone()), &tom),
        Err(DomainError::NotAuthor)
    );
}
