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

fn wish(shape: Shape, seed: u64) -> Wish {
    Wish {
        shape,
        strategy: How::Random,
        seed,
        together: Vec::new(),
        apart: Vec::new(),
    }
}

fn sizes(division: &Division) -> Vec<usize> {
    division.groups.iter().map(Vec::len).collect()
}

fn refused(result: Result<Division, DomainError>) -> (&'static str, &'static str) {
    match result {
        Err(DomainError::Invalid { path, code, .. }) => (path, code),
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_group_is_larger_than_asked_for_and_sizes_are_even() {
    let divided = |count, shape| sizes(&divide(&people(count), &wish(shape, 7), &Partners::new()).unwrap());
    assert_eq!(divided(25, Shape::Size(4)), [4, 4, 4, 4, 3, 3, 3]);
    assert_eq!(divided(24, Shape::Size(4)), [4; 6]);
    assert_eq!(divided(10, Shape::Count(3)), [4, 3, 3]);
    assert_eq!(divided(1, Shape::Size(5)), [1]);
}

#[test]
fn what_cannot_be_is_said_with_its_field() {
    let none = Partners::new();
    assert_eq!(refused(divide(&[], &wish(Shape::Size(3), 1), &none)).0, "studentIds");
    assert_eq!(
        refused(divide(&people(3), &wish(Shape::Count(4), 1), &none)),
        ("groupCount", "too_many")
    );
    assert_eq!(
        refused(divide(&people(3), &wish(Shape::Count(0), 1), &none)),
        ("groupCount", "too_many")
    );
    assert_eq!(
        refused(divide(&people(102), &wish(Shape::Count(2), 1), &none)),
        ("groupCount", "too_large")
    );
    assert_eq!(
        refused(divide(&people(101), &wish(Shape::Size(1), 1), &none)),
        ("groupSize", "too_many")
    );
    let all = people(6);
    let with = |together: Vec<Vec<UserId>>, apart: Vec<Vec<UserId>>| Wish {
        together,
        apart,
        ..wish(Shape::Count(3), 1)
    };
    let ask = |wish: &Wish| refused(divide(&all, wish, &Partners::new()));
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
fn the_seed_decides() {
    let all = people(24);
    let drawn = |seed| divide(&all, &wish(Shape::Size(4), seed), &Partners::new()).unwrap();
    assert_eq!(drawn(1), drawn(1));
    let different: BTreeSet<_> = (0..20).map(|seed| drawn(seed).groups).collect();
    assert_eq!(different.len(), 20);
    // The result must not change between releases: a division previewed by one release may be applied by the next.
    let small = divide(&people(4), &wish(Shape::Count(2), 42), &Partners::new()).unwrap();
    assert_eq!(small.groups, [people(4)[..2].to_vec(), people(4)[2..].to_vec()]);
}

#[test]
fn balanced_finds_new_partners() {
    let all = people(12);
    let mut partners = Partners::new();
    let mut wished = Wish {
        strategy: How::Balanced,
        ..wish(Shape::Size(3), 5)
    };
    for round in 0..3 {
        wished.seed = round;
        let division = divide(&all, &wished, &partners).unwrap();
        assert_eq!(division.repeated, 0, "round {round}: {:?}", division.groups);
        for group in &division.groups {
            for (at, one) in group.iter().enumerate() {
                for other in &group[at + 1..] {
                    let pair = (one.min(other).clone(), one.max(other).clone());
                    *partners.entry(pair).or_default() += 1;
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn everybody_is_in_one_group_and_wishes_are_held(
        count in 1_usize..40,
        groups in 1_usize..12,
        seed: u64,
        is_balanced: bool,
        pairs in prop::collection::vec((0_usize..40, 0_usize..40), 0..4),
        foes in prop::collection::vec((0_usize..40, 0_usize..40), 0..6),
    ) {
        let all = people(count);
        let sets = |pairs: &[(usize, usize)]| -> Vec<Vec<UserId>> {
            let inside = pairs.iter().filter(|(one, other)| one != other && *one < count && *other < count);
            inside.map(|(one, other)| vec![all[*one].clone(), all[*other].clone()]).collect()
        };
        let wish = Wish {
            shape: Shape::Count(groups),
            strategy: if is_balanced { How::Balanced } else { How::Random },
            seed,
            together: sets(&pairs),
            apart: sets(&foes),
        };
        let Ok(division) = divide(&all, &wish, &Partners::new()) else {
            // Without constraints a division always exists.
            prop_assert!(groups > count || !wish.together.is_empty() || !wish.apart.is_empty());
            return Ok(());
        };
        prop_assert_eq!(division.groups.len(), groups);
        let seated: Vec<&UserId> = division.groups.iter().flatten().collect();
        prop_assert_eq!(seated.len(), count);
        prop_assert_eq!(seated.iter().collect::<BTreeSet<_>>().len(), count);
        let sizes = sizes(&division);
        prop_assert!(sizes[0] - sizes[groups - 1] <= 1);
        let share = |set: &Vec<UserId>| division.groups.iter().any(|group| set.iter().all(|id| group.contains(id)));
        prop_assert!(wish.together.iter().all(share));
        prop_assert!(!wish.apart.iter().any(share));
        prop_assert_eq!(&division, &divide(&all, &wish, &Partners::new()).unwrap());
    }
}
