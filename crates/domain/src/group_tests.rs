//! Tests of groups: visibility, and the course invariant after any sequence of attaching, moving and reopening.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

use proptest::prelude::*;

use super::*;
use crate::samples::{ada, assignment, at, ben, course, group};

fn student() -> Viewer {
    Viewer::Student(ben())
}

fn teacher() -> Viewer {
    Viewer::Teacher(ada())
}

#[test]
fn students_do_not_see_future_groups() {
    let mut group = group("g");
    let sees = |group: &Group, now| group.visible_to(&student(), true, false, ClassStatus::Active, now);
    assert!(sees(&group, at(10)));
    group.start_date = Some(at(20));
    assert!(!sees(&group, at(19)) && sees(&group, at(20)) && sees(&group, at(21)));
    assert!(group.is_hidden(at(19)) && !group.is_hidden(at(20)));
}

#[test]
fn students_do_not_see_groups_of_others_or_of_drafts() {
    let sees = |is_member, status| group("g").visible_to(&student(), is_member, false, status, at(1));
    assert!(sees(true, ClassStatus::Active) && sees(true, ClassStatus::Archived));
    assert!(!sees(true, ClassStatus::Draft) && !sees(false, ClassStatus::Active));
}

#[test]
fn staff_of_the_class_see_hidden_groups_and_other_teachers_do_not() {
    let hidden = Group {
        start_date: Some(at(99)),
        ..group("g")
    };
    assert!(hidden.visible_to(&Viewer::Admin, false, false, ClassStatus::Draft, at(1)));
    assert!(hidden.visible_to(&teacher(), false, true, ClassStatus::Draft, at(1)));
    assert!(!group("g").visible_to(&teacher(), true, false, ClassStatus::Active, at(1)));
    // A former co-teacher who is now a student.
    assert!(!hidden.visible_to(&student(), false, true, ClassStatus::Active, at(1)));
}

#[test]
fn events_of_hidden_group_go_to_staff_only() {
    let hidden = Group {
        start_date: Some(at(99)),
        ..group("g")
    };
    let staff = Room::Staff(ClassId::new("7b"));
    assert_eq!(
        hidden.group_context(ClassStatus::Active).rooms(at(98)),
        std::slice::from_ref(&staff)
    );
    assert_eq!(
        hidden.group_context(ClassStatus::Active).rooms(at(99)),
        [staff.clone(), Room::Group(GroupId::new("g"))]
    );
    assert_eq!(group("g").group_context(ClassStatus::Draft).rooms(at(1)), [staff]);
}

#[test]
fn a_free_group_takes_the_course_of_its_first_topic() {
    let mut group = group("g");
    let changed = group
        .attach(&assignment("t", Some("poems")), Some(&course("poems")), &[], at(5))
        .unwrap();
    assert_eq!(changed.names(), ["courseId", "subjectId"]);
    assert_eq!(group.course_id, Some(CourseId::new("poems")));
    assert_eq!(group.subject_id, Some(SubjectId::new("subject of poems")));
    assert_eq!(group.updated_at, at(5));
}

#[test]
fn group_of_another_course_is_not_attached() {
    let mismatch = Err(DomainError::CourseMismatch {
        groups: vec![GroupId::new("g")],
    });
    let poems = || assignment("t", Some("poems"));
    let legacy = [ActiveTopic {
        assignment_id: AssignmentId::new("old"),
        course_id: None,
    }];
    assert_eq!(group("g").course_for(&poems(), &legacy), mismatch);
    let in_prose = Group {
        course_id: Some(CourseId::new("prose")),
        ..group("g")
    };
    assert_eq!(in_prose.course_for(&poems(), &[]), mismatch);
    assert_eq!(in_prose.course_for(&assignment("old", None), &[]), mismatch);
    assert_eq!(group("g").course_for(&assignment("old", None), &legacy), Ok(None));
    let elsewhere = Group {
        class_id: ClassId::new("8b"),
        ..group("g")
    };
    assert_eq!(elsewhere.course_for(&poems(), &[]), Err(DomainError::ClassMismatch));
}

#[test]
fn finished_topic_and_archived_course_reject_groups() {
    let mut finished = assignment("t", Some("poems"));
    finished.finish(&ada(), at(1));
    let attached = group("g").attach(&finished, Some(&course("poems")), &[], at(2));
    assert_eq!(attached, Err(DomainError::AssignmentFinished));
    let archived = Course {
        status: crate::course::CourseStatus::Archived,
        ..course("poems")
    };
    let attached = group("g").attach(&assignment("t", Some("poems")), Some(&archived), &[], at(2));
    assert_eq!(attached, Err(DomainError::CourseArchived));
}

#[test]
fn a_group_moves_only_when_no_active_topic_holds_it() {
    let held = [ActiveTopic {
        assignment_id: AssignmentId::new("t"),
        course_id: Some(CourseId::new("poems")),
    }];
    let mut group = Group {
        course_id: Some(CourseId::new("poems")),
        ..group("g")
    };
    assert!(matches!(
        group.move_to(Some(&course("prose")), &held, at(1)),
        Err(DomainError::CourseMismatch { .. })
    ));
    assert!(matches!(
        group.move_to(None, &held, at(1)),
        Err(DomainError::CourseMismatch { .. })
    ));
    assert!(group.move_to(Some(&course("poems")), &held, at(1)).unwrap().is_empty());
    assert!(group.move_to(Some(&course("prose")), &[], at(1)).is_ok());
    let foreign = Course {
        class_id: ClassId::new("8b"),
        ..course("foreign")
    };
    assert_eq!(
        group.move_to(Some(&foreign), &[], at(1)),
        Err(DomainError::ClassMismatch)
    );
}

#[test]
fn the_subject_of_a_group_is_that_of_its_course() {
    let mut group = Group {
        course_id: Some(CourseId::new("poems")),
        subject_id: Some(SubjectId::new("subject of poems")),
        ..group("g")
    };
    let before = group.clone();
    let art = || FieldPatch::Value(SubjectId::new("art"));
    let edit = GroupEdit {
        name: FieldPatch::Value(ShortName::stored("x")),
        subject_id: art(),
        ..GroupEdit::default()
    };
    assert_eq!(group.edit(edit, None, &[], at(1)), Err(DomainError::ClassMismatch));
    assert_eq!(group, before, "a refused edit changes nothing");
    // Leaves the course and changes the subject in the same request.
    let edit = GroupEdit {
        course_id: FieldPatch::Null,
        subject_id: art(),
        ..GroupEdit::default()
    };
    group.edit(edit, None, &[], at(1)).unwrap();
    assert_eq!((group.course_id, group.subject_id), (None, Some(SubjectId::new("art"))));
}

#[test]
fn groups_follow_their_course_to_another_subject() {
    let moved = Course {
        subject_id: SubjectId::new("art"),
        ..course("poems")
    };
    let mut inside = Group {
        course_id: Some(CourseId::new("poems")),
        ..group("g")
    };
    assert_eq!(inside.follow_subject(&moved, at(1)).names(), ["subjectId"]);
    assert!(group("g").follow_subject(&moved, at(1)).is_empty());
}

#[test]
fn group_numbers_continue_from_the_highest() {
    assert_eq!(Group::next_number(None), Ok(GroupNumber::stored(1)));
    assert_eq!(
        Group::next_number(Some(GroupNumber::stored(7))),
        Ok(GroupNumber::stored(8))
    );
    assert!(matches!(
        Group::next_number(Some(GroupNumber::stored(9999))),
        Err(DomainError::LimitReached { .. })
    ));
    assert!(Group::room_for(50).is_ok() && Group::room_for(51).is_err());
}

fn class_status() -> impl Strategy<Value = ClassStatus> {
    prop::sample::select(ClassStatus::ALL)
}

proptest! {
    #[test]
    fn no_student_ever_sees_future_group(
        start in 1_i64..100, now in 0_i64..100, is_member: bool, manages: bool, status in class_status()
    ) {
        let group = Group { start_date: Some(at(start)), ..group("g") };
        let sees = group.visible_to(&student(), is_member, manages, status, at(now));
        prop_assert!(!(sees && start > now));
        // The group room receives events exactly when the members see the group.
        let received = group.group_context(status).rooms(at(now)).contains(&Room::Group(GroupId::new("g")));
        prop_assert_eq!(sees, received && is_member);
    }
}

/// A class with two courses, three groups and three topics.
struct SmallWorld {
    courses: [Course; 2],
    groups: Vec<Group>,
    assignments: Vec<Assignment>,
    links: Vec<(usize, usize)>,
}

#[derive(Clone, Copy, Debug)]
enum GroupStep {
    Attach(usize, usize),
    Detach(usize, usize),
    Finish(usize),
    Reopen(usize),
    MoveGroup(usize, Option<usize>),
    MoveAssignment(usize, Option<usize>),
}

impl SmallWorld {
    fn active(&self, group: usize) -> Vec<ActiveTopic> {
        let topics = self
            .links
            .iter()
            .filter(|(linked, _)| *linked == group)
            .map(|(_, topic)| &self.assignments[*topic]);
        topics
            .filter(|topic| topic.is_active())
            .map(|topic| ActiveTopic {
                assignment_id: topic.id.clone(),
                course_id: topic.course_id.clone(),
            })
            .collect()
    }

    fn act(&mut self, act: GroupStep) -> Result<(), DomainError> {
        let courses = self.courses.clone();
        match act {
            GroupStep::Attach(group, topic) => {
                if !self.links.contains(&(group, topic)) {
                    let active = self.active(group);
                    let assignment = self.assignments[topic].clone();
                    let course = courses
                        .iter()
                        .find(|course| Some(&course.id) == assignment.course_id.as_ref());
                    self.groups[group].attach(&assignment, course, &active, at(1))?;
                    self.links.push((group, topic));
                }
            }
            GroupStep::Detach(group, topic) => self.links.retain(|link| *link != (group, topic)),
            GroupStep::Finish(topic) => {
                self.assignments[topic].finish(&ada(), at(1));
            }
            GroupStep::Reopen(topic) => {
                let groups = self
                    .links
                    .iter()
                    .filter(|(_, linked)| *linked == topic)
                    .map(|(group, _)| *group);
                let groups: Vec<_> = groups.map(|group| self.groups[group].clone()).collect();
                let labels: Vec<_> = groups.iter().map(Group::label).collect();
                self.assignments[topic].reopen(&labels, at(1))?;
            }
            GroupStep::MoveGroup(group, course) => {
                let active = self.active(group);
                self.groups[group].move_to(course.map(|course| &courses[course]), &active, at(1))?;
            }
            GroupStep::MoveAssignment(topic, course) => {
                let indices: Vec<_> = self
                    .links
                    .iter()
                    .filter(|(_, linked)| *linked == topic)
                    .map(|(group, _)| *group)
                    .collect();
                let mut groups: Vec<_> = indices
                    .iter()
                    .map(|group| (self.groups[*group].clone(), self.active(*group)))
                    .collect();
                self.assignments[topic].move_to(course.map(|course| &courses[course]), &mut groups, at(1))?;
                for (index, (group, _)) in indices.into_iter().zip(groups) {
                    self.groups[index] = group;
                }
            }
        }
        Ok(())
    }
}

fn act() -> impl Strategy<Value = GroupStep> {
    let course = || prop::option::of(0_usize..2);
    prop_oneof![
        4 => (0_usize..3, 0_usize..3).prop_map(|(group, topic)| GroupStep::Attach(group, topic)),
        1 => (0_usize..3, 0_usize..3).prop_map(|(group, topic)| GroupStep::Detach(group, topic)),
        2 => (0_usize..3).prop_map(GroupStep::Finish),
        2 => (0_usize..3).prop_map(GroupStep::Reopen),
        2 => (0_usize..3, course()).prop_map(|(group, course)| GroupStep::MoveGroup(group, course)),
        2 => (0_usize..3, course()).prop_map(|(topic, course)| GroupStep::MoveAssignment(topic, course)),
    ]
}

proptest! {
    #[test]
    fn group_and_active_topic_are_in_the_same_course_after_any_sequence(acts in prop::collection::vec(act(), 1..60)) {
        let mut world = SmallWorld {
            courses: [course("poems"), course("prose")],
            groups: ["g1", "g2", "g3"].map(group).to_vec(),
            assignments: vec![
                assignment("t1", Some("poems")), assignment("t2", Some("prose")), assignment("t3", None),
            ],
            links: Vec::new(),
        };
        for act in acts {
            let before = (world.groups.clone(), world.assignments.clone());
            if world.act(act).is_err() {
                prop_assert_eq!(&before.0, &world.groups, "a refused {:?} changes no group", act);
                prop_assert_eq!(&before.1, &world.assignments, "a refused {:?} changes no topic", act);
            }
            for (group, topic) in &world.links {
                let (group, topic) = (&world.groups[*group], &world.assignments[*topic]);
                if topic.is_active() {
                    prop_assert_eq!(&group.course_id, &topic.course_id, "after {:?}", act);
                    prop_assert_eq!(&group.class_id, &topic.class_id);
                }
            }
            for group in &world.groups {
                if let Some(course) = world.courses.iter().find(|course| Some(&course.id) == group.course_id.as_ref()) {
                    prop_assert_eq!(group.subject_id.as_ref(), Some(&course.subject_id));
                }
            }
        }
    }
}
