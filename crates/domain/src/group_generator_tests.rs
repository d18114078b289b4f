#![expect(clippy::unwrap_used, reason = "tests may panic")]
use std::collections::BTreeSet;

use proptest::prelude::*;

use super::Strategy as How;
use super::*;

fn people(count: usize) -> Vec<UserId> {
    (0..count)
        .map(|number| UserId::new(format!("student-{number:03}")))
        .collect()
}

fn constraints(sizing: GroupSizing, seed: u64) -> GroupConstraints {
    GroupConstraints {
        sizing,
        strategy: How::Random,
        seed,
        together: Vec::new(),
        apart: Vec::new(),
    }
}

fn sizes(generated: &GeneratedGroups) -> Vec<usize> {
    generated.groups.iter().map(Vec::len).collect()
}

fn refused(result: Result<GeneratedGroups, DomainError>) -> (&'static str, &'static str) {
    match result {
        Err(DomainError::Invalid { path, code, .. }) => (path, code),
        other => panic!("{other:?}"),
    }
}

#[test]
fn generated_groups_are_even_and_within_size() {
    let divided =
        |count, sizing| sizes(&generate_groups(&people(count), &constraints(sizing, 7), &PairCounts::new()).unwrap());
    assert_eq!(divided(25, GroupSizing::Size(4)), [4, 4, 4, 4, 3, 3, 3]);
    assert_eq!(divided(24, GroupSizing::Size(4)), [4; 6]);
    assert_eq!(divided(10, GroupSizing::Count(3)), [4, 3, 3]);
    assert_eq!(divided(1, GroupSizing::Size(5)), [1]);
}

#[test]
fn impossible_division_names_its_field() {
    let none = PairCounts::new();
    assert_eq!(
        refused(generate_groups(&[], &constraints(GroupSizing::Size(3), 1), &none)).0,
        "studentIds"
    );
    assert_eq!(
        refused(generate_groups(
            &people(3),
            &constraints(GroupSizing::Count(4), 1),
            &none
        )),
        ("groupCount", "too_many")
    );
    assert_eq!(
        refused(generate_groups(
            &people(3),
            &constraints(GroupSizing::Count(0), 1),
            &none
        )),
        ("groupCount", "too_many")
    );
    assert_eq!(
        refused(generate_groups(
            &people(102),
            &constraints(GroupSizing::Count(2), 1),
            &none
        )),
        ("groupCount", "too_large")
    );
    assert_eq!(
        refused(generate_groups(
            &people(101),
            &constraints(GroupSizing::Size(1), 1),
            &none
        )),
        ("groupSize", "too_many")
    );
    let all = people(6);
    let with = |together: Vec<Vec<UserId>>, apart: Vec<Vec<UserId>>| GroupConstraints {
        together,
        apart,
        ..constraints(GroupSizing::Count(3), 1)
    };
    let ask = |constraints: &GroupConstraints| refused(generate_groups(&all, constraints, &PairCounts::new()));
    assert_eq!(
        ask(&with(vec![all[..3].to_vec()], vec![])),
        ("keepTogether", "impossible")
    );
    assert_eq!(ask(&with(vec![], vec![all[..4].to_vec()])), ("keepApart", "impossible"));
    assert_eq!(
        ask(&with(vec![all[..2].to_vec()], vec![all[..2].to_vec()])),
        ("keepApart", "impossible")
    );
    assert_eq!(
        ask(&with(vec![vec![UserId::new("x")]], vec![])),
        ("keepTogether", "unknown")
    );
}

#[test]
fn same_seed_generates_same_groups() {
    let all = people(24);
    let drawn = |seed| generate_groups(&all, &constraints(GroupSizing::Size(4), seed), &PairCounts::new()).unwrap();
    assert_eq!(drawn(1), drawn(1));
    let different: BTreeSet<_> = (0..20).map(|seed| drawn(seed).groups).collect();
    assert_eq!(different.len(), 20);
    // The result must not change between releases: a division previewed by one release may be applied by the next.
    let small = generate_groups(&people(4), &constraints(GroupSizing::Count(2), 42), &PairCounts::new()).unwrap();
    assert_eq!(small.groups, [people(4)[..2].to_vec(), people(4)[2..].to_vec()]);
}

#[test]
fn balanced_division_prefers_new_partners() {
    let all = people(12);
    let mut pair_counts = PairCounts::new();
    let mut wished = GroupConstraints {
        strategy: How::Balanced,
        ..constraints(GroupSizing::Size(3), 5)
    };
    for round in 0..3 {
        wished.seed = round;
        let generated = generate_groups(&all, &wished, &pair_counts).unwrap();
        assert_eq!(generated.repeated, 0, "round {round}: {:?}", generated.groups);
        for group in &generated.groups {
            for (at, one) in group.iter().enumerate() {
                for other in &group[at + 1..] {
                    let pair = (one.min(other).clone(), one.max(other).clone());
                    *pair_counts.entry(pair).or_default() += 1;
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn division_assigns_each_student_once_and_keeps_constraints(
        count in 1_usize..40,
        groups in 1_usize..12,
        seed: u64,
        is_balanced: bool,
        pairs in prop::collection::vec((0_usize..40, 0_usize..40), 0..4),
        conflicts in prop::collection::vec((0_usize..40, 0_usize..40), 0..6),
    ) {
        let all = people(count);
        let sets = |pairs: &[(usize, usize)]| -> Vec<Vec<UserId>> {
            let inside = pairs.iter().filter(|(one, other)| one != other && *one < count && *other < count);
            inside.map(|(one, other)| vec![all[*one].clone(), all[*other].clone()]).collect()
        };
        let constraints = GroupConstraints {
            sizing: GroupSizing::Count(groups),
            strategy: if is_balanced { How::Balanced } else { How::Random },
            seed,
            together: sets(&pairs),
            apart: sets(&conflicts),
        };
        let Ok(generated) = generate_groups(&all, &constraints, &PairCounts::new()) else {
            // Without constraints a division always exists.
            prop_assert!(groups > count || !constraints.together.is_empty() || !constraints.apart.is_empty());
            return Ok(());
        };
        prop_assert_eq!(generated.groups.len(), groups);
        let seated: Vec<&UserId> = generated.groups.iter().flatten().collect();
        prop_assert_eq!(seated.len(), count);
        prop_assert_eq!(seated.iter().collect::<BTreeSet<_>>().len(), count);
        let sizes = sizes(&generated);
        prop_assert!(sizes[0] - sizes[groups - 1] <= 1);
        let share = |set: &Vec<UserId>| generated.groups.iter().any(|group| set.iter().all(|id| group.contains(id)));
        prop_assert!(constraints.together.iter().all(share));
        prop_assert!(!constraints.apart.iter().any(share));
        prop_assert_eq!(&generated, &generate_groups(&all, &constraints, &PairCounts::new()).unwrap());
    }
}
