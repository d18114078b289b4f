//! Divides the students of a class into groups: by group size or by number of groups, at random or with as few repeated
//! partners as possible, with constraints on who has to be together or apart. Pure: the same input and seed give the
//! same groups.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain_error::DomainError;
use crate::group::MEMBERS_MAX;
use crate::id::UserId;
use crate::string_enum::string_enum;

/// Maximum number of groups created at once.
pub const GROUPS_MAX: usize = 100;
/// Step limit of the backtracking search. Constraints that need more steps contradict each other in practice.
const STEPS_MAX: usize = 200_000;
/// Round limit of the exchange phase, which reduces repeated partners.
const ROUNDS_MAX: usize = 20;

string_enum! {
    /// How students are assigned to groups.
    Strategy {
        /// At random.
        Random = "random",
        /// With as few repeated partners as possible, compared with earlier groups in this class.
        Balanced = "balanced",
    }
}

/// Number of groups to create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupSizing {
    /// As many groups as needed for no group to exceed this size.
    Size(usize),
    /// Exactly this many groups.
    Count(usize),
}

/// Parameters of a division.
#[derive(Clone, Debug)]
pub struct GroupConstraints {
    pub sizing: GroupSizing,
    pub strategy: Strategy,
    /// Seed of the random number generator.
    pub seed: u64,
    /// Sets of students who must be in the same group.
    pub together: Vec<Vec<UserId>>,
    /// Sets of students of whom no two may be in the same group.
    pub apart: Vec<Vec<UserId>>,
}

/// How often two students were in the same group before. The smaller id comes first.
pub type PairCounts = BTreeMap<(UserId, UserId), i64>;

/// Result of a division.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedGroups {
    /// Members of each group; larger groups come first.
    pub groups: Vec<Vec<UserId>>,
    /// Number of earlier shared groups, summed over all pairs of students who share one of the new groups.
    pub repeated: i64,
}

/// Divides students into groups whose sizes differ by at most one.
///
/// `students` must be distinct and in a stable order. A constraint that mentions a student who is not in `students`, or
/// that cannot be satisfied, is rejected with the name of the request field.
pub fn generate_groups(
    students: &[UserId],
    constraints: &GroupConstraints,
    pair_counts: &PairCounts,
) -> Result<GeneratedGroups, DomainError> {
    let count = group_count(students.len(), constraints.sizing)?;
    let index: BTreeMap<&UserId, usize> = students.iter().enumerate().map(|(at, id)| (id, at)).collect();
    let numbers = |sets: &[Vec<UserId>], path| -> Result<Vec<Vec<usize>>, DomainError> {
        let number = |id: &UserId| index.get(id).copied().ok_or_else(|| unknown_student(path));
        sets.iter().map(|set| set.iter().map(number).collect()).collect()
    };
    let together = numbers(&constraints.together, "keepTogether")?;
    let apart = numbers(&constraints.apart, "keepApart")?;
    let mut rng = SeededRng(constraints.seed);
    let mut allocation = GroupAllocation::new(students.len(), count, &together, &apart, &mut rng)?;
    if constraints.strategy == Strategy::Balanced {
        for ((one, other), times) in pair_counts {
            if let (Some(&one), Some(&other)) = (index.get(one), index.get(other)) {
                allocation.times_together[one][other] += times;
                allocation.times_together[other][one] += times;
            }
        }
    }
    allocation.allocate(&mut rng)?;
    if constraints.strategy == Strategy::Balanced {
        allocation.improve_by_swapping();
    }
    let repeated = count_repeated_pairs(&allocation, students, pair_counts);
    let mut groups: Vec<Vec<UserId>> = vec![Vec::new(); count];
    for (student, group) in allocation.groups_by_student().into_iter().enumerate() {
        groups[group].push(students[student].clone());
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    Ok(GeneratedGroups { groups, repeated })
}

fn group_count(students: usize, sizing: GroupSizing) -> Result<usize, DomainError> {
    let (count, path) = match sizing {
        GroupSizing::Size(size) => (students.div_ceil(size.max(1)), "groupSize"),
        GroupSizing::Count(count) => (count, "groupCount"),
    };
    let refuse = |code, message| Err(DomainError::Invalid { path, code, message });
    if students == 0 {
        return Err(DomainError::Invalid {
            path: "studentIds",
            code: "empty",
            message: "names nobody, and no student of the class is without a group",
        });
    }
    if count == 0 || count > students {
        refuse("too_many", "asks for more groups than there are students")
    } else if count > GROUPS_MAX {
        refuse("too_many", "asks for more than 100 groups at once")
    } else if students.div_ceil(count) > MEMBERS_MAX {
        refuse("too_large", "makes groups of more than 50 students")
    } else {
        Ok(count)
    }
}

fn unknown_student(path: &'static str) -> DomainError {
    DomainError::Invalid {
        path,
        code: "unknown",
        message: "names a user who is not among the students to be divided",
    }
}

fn unsatisfiable(path: &'static str) -> DomainError {
    DomainError::Invalid {
        path,
        code: "impossible",
        message: "cannot be held with groups of this size and the other wishes",
    }
}

/// Random number generator with the same sequence on every machine and in every release (SplitMix64, Steele, Lea and
/// Flood 2014).
struct SeededRng(u64);

impl SeededRng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let bound = u64::try_from(last).unwrap_or(u64::MAX).saturating_add(1);
            let other = usize::try_from(self.next() % bound).unwrap_or(0);
            items.swap(last, other);
        }
    }
}

/// Students who must stay together; they are assigned as one unit.
struct Block {
    students: Vec<usize>,
    /// Blocks that must not be in the same group.
    conflicts: BTreeSet<usize>,
}

/// State of the search: the assignment of blocks to groups. Blocks are numbered in the order in which they are
/// assigned.
struct GroupAllocation {
    blocks: Vec<Block>,
    group_of_block: Vec<usize>,
    groups: Vec<Vec<usize>>,
    sizes: Vec<usize>,
    students: usize,
    /// How often two students were in the same group before; all zero for [`Strategy::Random`].
    times_together: Vec<Vec<i64>>,
}

impl GroupAllocation {
    fn new(
        students: usize,
        count: usize,
        together: &[Vec<usize>],
        apart: &[Vec<usize>],
        rng: &mut SeededRng,
    ) -> Result<Self, DomainError> {
        // Sets that share a student are merged.
        let mut of: Vec<usize> = (0..students).collect();
        for set in together {
            for pair in set.windows(2) {
                let (kept, gone) = (of[pair[0]], of[pair[1]]);
                for block in &mut of {
                    if *block == gone {
                        *block = kept;
                    }
                }
            }
        }
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (student, block) in of.iter().enumerate() {
            members.entry(*block).or_default().push(student);
        }
        let mut conflicts: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for set in apart {
            if set.len() > count {
                return Err(unsatisfiable("keepApart"));
            }
            for (at, one) in set.iter().enumerate() {
                for other in &set[at + 1..] {
                    if of[*one] == of[*other] {
                        return Err(unsatisfiable("keepApart"));
                    }
                    conflicts.entry(of[*one]).or_default().insert(of[*other]);
                    conflicts.entry(of[*other]).or_default().insert(of[*one]);
                }
            }
        }
        let mut order: Vec<usize> = members.keys().copied().collect();
        rng.shuffle(&mut order);
        // The most constrained blocks come first.
        order.sort_by_key(|block| {
            let conflicts = conflicts.get(block).map_or(0, BTreeSet::len);
            (std::cmp::Reverse(members[block].len()), std::cmp::Reverse(conflicts))
        });
        let number: BTreeMap<usize, usize> = order.iter().enumerate().map(|(at, block)| (*block, at)).collect();
        let blocks: Vec<Block> = order
            .iter()
            .map(|block| Block {
                students: members.remove(block).unwrap_or_default(),
                conflicts: conflicts
                    .remove(block)
                    .unwrap_or_default()
                    .iter()
                    .map(|conflict| number[conflict])
                    .collect(),
            })
            .collect();
        let largest = students.div_ceil(count);
        if blocks.first().is_some_and(|block| block.students.len() > largest) {
            return Err(unsatisfiable("keepTogether"));
        }
        Ok(Self {
            group_of_block: vec![usize::MAX; blocks.len()],
            blocks,
            groups: vec![Vec::new(); count],
            sizes: vec![0; count],
            students,
            times_together: vec![vec![0; students]; students],
        })
    }

    /// Assigns every block to a group by backtracking.
    fn allocate(&mut self, rng: &mut SeededRng) -> Result<(), DomainError> {
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        rng.shuffle(&mut order);
        let mut steps = 0;
        if self.allocate_from(0, &order, &mut steps) {
            return Ok(());
        }
        let has_conflicts = self.blocks.iter().any(|block| !block.conflicts.is_empty());
        Err(unsatisfiable(if has_conflicts { "keepApart" } else { "keepTogether" }))
    }

    fn allocate_from(&mut self, block: usize, order: &[usize], steps: &mut usize) -> bool {
        if block == self.blocks.len() {
            return true;
        }
        *steps += 1;
        if *steps > STEPS_MAX {
            return false;
        }
        let mut candidates: Vec<usize> = order.iter().copied().filter(|group| self.fits(block, *group)).collect();
        // Groups with the fewest earlier partners come first, then the smallest; ties are broken by the shuffled order.
        candidates.sort_by_key(|group| (self.repeated_pairs(block, *group), self.sizes[*group]));
        // Empty groups are equivalent: if one fails, all do.
        let mut tried_empty = false;
        for group in candidates {
            if self.groups[group].is_empty() && std::mem::replace(&mut tried_empty, true) {
                continue;
            }
            self.assign(block, group);
            if self.allocate_from(block + 1, order, steps) {
                return true;
            }
            self.unassign(block);
        }
        false
    }

    /// Returns whether a block may join a group: no conflicting block is in it, and the sizes can still be balanced.
    fn fits(&self, block: usize, group: usize) -> bool {
        let size = self.sizes[group] + self.blocks[block].students.len();
        let (least, larger) = (self.students / self.groups.len(), self.students % self.groups.len());
        let largest = if larger == 0 { least } else { least + 1 };
        if size > largest
            || self.groups[group]
                .iter()
                .any(|other| self.blocks[block].conflicts.contains(other))
        {
            return false;
        }
        size <= least || self.sizes.iter().filter(|size| **size > least).count() < larger
    }

    fn repeated_pairs(&self, block: usize, group: usize) -> i64 {
        let there = self.groups[group]
            .iter()
            .flat_map(|other| &self.blocks[*other].students);
        there
            .map(|other| {
                self.blocks[block]
                    .students
                    .iter()
                    .map(|student| self.times_together[*student][*other])
                    .sum::<i64>()
            })
            .sum()
    }

    fn assign(&mut self, block: usize, group: usize) {
        self.group_of_block[block] = group;
        self.groups[group].push(block);
        self.sizes[group] += self.blocks[block].students.len();
    }

    fn unassign(&mut self, block: usize) {
        let group = self.group_of_block[block];
        self.groups[group].retain(|other| *other != block);
        self.sizes[group] -= self.blocks[block].students.len();
        self.group_of_block[block] = usize::MAX;
    }

    /// Swaps blocks of equal size as long as that reduces the number of repeated partners.
    fn improve_by_swapping(&mut self) {
        for _ in 0..ROUNDS_MAX {
            let mut is_better = false;
            for one in 0..self.blocks.len() {
                for other in one + 1..self.blocks.len() {
                    is_better |= self.swap_if_better(one, other);
                }
            }
            if !is_better {
                return;
            }
        }
    }

    fn swap_if_better(&mut self, one: usize, other: usize) -> bool {
        let (from, to) = (self.group_of_block[one], self.group_of_block[other]);
        if from == to || self.blocks[one].students.len() != self.blocks[other].students.len() {
            return false;
        }
        self.unassign(one);
        self.unassign(other);
        let before = self.repeated_pairs(one, from) + self.repeated_pairs(other, to);
        let after = self.repeated_pairs(one, to) + self.repeated_pairs(other, from);
        let conflicts_with = |block: usize, group: usize| {
            self.groups[group]
                .iter()
                .any(|there| self.blocks[block].conflicts.contains(there))
        };
        let is_better = after < before && !conflicts_with(one, to) && !conflicts_with(other, from);
        let (first, second) = if is_better { (to, from) } else { (from, to) };
        self.assign(one, first);
        self.assign(other, second);
        is_better
    }

    /// Returns the group of each student.
    fn groups_by_student(&self) -> Vec<usize> {
        let mut groups_by_student = vec![0; self.students];
        for (block, group) in self.blocks.iter().zip(&self.group_of_block) {
            for student in &block.students {
                groups_by_student[*student] = *group;
            }
        }
        groups_by_student
    }
}

fn count_repeated_pairs(allocation: &GroupAllocation, students: &[UserId], pair_counts: &PairCounts) -> i64 {
    let groups_by_student: BTreeMap<&UserId, usize> = students.iter().zip(allocation.groups_by_student()).collect();
    let share = |one: &UserId, other: &UserId| match (groups_by_student.get(one), groups_by_student.get(other)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    };
    let times_together = pair_counts.iter().filter(|((one, other), _)| share(one, other));
    times_together.map(|(_, times)| times).sum()
}

#[cfg(test)]
#[path = "group_generator_tests.rs"]
mod tests;
