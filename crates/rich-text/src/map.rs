//! Where positions go when a document changes.

use std::borrow::Cow;

/// To which side a position moves if content is inserted exactly there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bias {
    Before,
    After,
}

/// The ranges that a step replaced, in order and without overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepMap {
    ranges: Vec<ReplacedRange>,
    is_inverted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReplacedRange {
    pub(crate) start: usize,
    pub(crate) old_size: usize,
    pub(crate) new_size: usize,
}

/// A mapped position, and what was deleted around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapResult {
    pub position: usize,
    deletion: Deletion,
    /// Where the position was inside a replaced range, to find it again if a later map restores the range.
    recovery: Option<Recovery>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recovery {
    range: usize,
    offset: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the four facts are independent")]
struct Deletion {
    before: bool,
    after: bool,
    across: bool,
    on_side: bool,
}

impl Deletion {
    fn or(self, other: Self) -> Self {
        Self {
            before: self.before || other.before,
            after: self.after || other.after,
            across: self.across || other.across,
            on_side: self.on_side || other.on_side,
        }
    }
}

impl MapResult {
    /// Whether the content on the side of the bias was deleted.
    pub fn is_deleted(&self) -> bool {
        self.deletion.on_side
    }

    pub fn is_deleted_before(&self) -> bool {
        self.deletion.before || self.deletion.across
    }

    pub fn is_deleted_after(&self) -> bool {
        self.deletion.after || self.deletion.across
    }

    /// Whether the content on both sides was deleted.
    pub fn is_deleted_across(&self) -> bool {
        self.deletion.across
    }
}

impl StepMap {
    pub(crate) fn new(ranges: Vec<ReplacedRange>) -> Self {
        Self {
            ranges,
            is_inverted: false,
        }
    }

    #[must_use]
    pub fn inverted(&self) -> Self {
        Self {
            ranges: self.ranges.clone(),
            is_inverted: !self.is_inverted,
        }
    }

    /// The ranges with their positions in the document from which the map leads.
    fn oriented(&self) -> impl Iterator<Item = ReplacedRange> + '_ {
        let (mut added, mut removed) = (0, 0);
        self.ranges.iter().map(move |range| {
            let oriented = if self.is_inverted {
                ReplacedRange {
                    start: (range.start + added).saturating_sub(removed),
                    old_size: range.new_size,
                    new_size: range.old_size,
                }
            } else {
                *range
            };
            added += range.new_size;
            removed += range.old_size;
            oriented
        })
    }

    pub fn map(&self, position: usize, bias: Bias) -> usize {
        self.map_result(position, bias).position
    }

    pub fn map_result(&self, position: usize, bias: Bias) -> MapResult {
        let (mut added, mut removed) = (0, 0);
        for (index, range) in self.oriented().enumerate() {
            if range.start > position {
                break;
            }
            let end = range.start + range.old_size;
            if position <= end {
                return map_in_range(index, range, position, bias, range.start + added - removed);
            }
            added += range.new_size;
            removed += range.old_size;
        }
        MapResult {
            position: position + added - removed,
            deletion: Deletion::default(),
            recovery: None,
        }
    }

    fn recover(&self, recovery: Recovery) -> usize {
        let range = self.ranges[recovery.range];
        if self.is_inverted {
            return range.start + recovery.offset;
        }
        let before = &self.ranges[..recovery.range];
        let added: usize = before.iter().map(|range| range.new_size).sum();
        let removed: usize = before.iter().map(|range| range.old_size).sum();
        range.start + added - removed + recovery.offset
    }
}

fn map_in_range(index: usize, range: ReplacedRange, position: usize, bias: Bias, new_start: usize) -> MapResult {
    let end = range.start + range.old_size;
    let side = match position {
        _ if range.old_size == 0 => bias,
        _ if position == range.start => Bias::Before,
        _ if position == end => Bias::After,
        _ => bias,
    };
    let edge = if bias == Bias::Before { range.start } else { end };
    let is_deletion = range.old_size > 0;
    let is_at_start = is_deletion && position == range.start;
    let is_at_end = is_deletion && position == end;
    MapResult {
        position: if side == Bias::Before {
            new_start
        } else {
            new_start + range.new_size
        },
        deletion: Deletion {
            before: is_at_end,
            after: is_at_start,
            across: is_deletion && !is_at_start && !is_at_end,
            on_side: is_deletion && position != edge,
        },
        recovery: (position != edge).then_some(Recovery {
            range: index,
            offset: position - range.start,
        }),
    }
}

/// Maps in a row. A map may be the mirror of an earlier one, which it undoes: positions that the first deletes are
/// restored by the second.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    maps: Vec<StepMap>,
    /// Indexed by map: the later map that undoes it.
    mirrors: Vec<Option<usize>>,
}

impl Mapping {
    pub fn new(maps: Vec<StepMap>) -> Self {
        let mirrors = vec![None; maps.len()];
        Self { maps, mirrors }
    }

    pub fn push(&mut self, map: StepMap) {
        self.maps.push(map);
        self.mirrors.push(None);
    }

    /// Adds a map that undoes an earlier one.
    pub(crate) fn push_mirror_of(&mut self, map: StepMap, earlier: usize) {
        self.mirrors[earlier] = Some(self.maps.len());
        self.push(map);
    }

    pub fn map(&self, position: usize, bias: Bias) -> usize {
        self.starting_at(0).map(position, bias)
    }

    pub fn map_result(&self, position: usize, bias: Bias) -> MapResult {
        self.starting_at(0).map_result(position, bias)
    }

    /// The maps from an index on.
    pub fn starting_at(&self, first: usize) -> MappingView<'_> {
        MappingView {
            mapping: Cow::Borrowed(self),
            first,
        }
    }
}

/// The last maps of a [`Mapping`].
#[derive(Clone, Debug)]
pub struct MappingView<'a> {
    mapping: Cow<'a, Mapping>,
    first: usize,
}

impl MappingView<'_> {
    pub fn map(&self, position: usize, bias: Bias) -> usize {
        self.map_result(position, bias).position
    }

    pub fn map_result(&self, position: usize, bias: Bias) -> MapResult {
        let mut mapped = MapResult {
            position,
            deletion: Deletion::default(),
            recovery: None,
        };
        let mut index = self.first;
        while let Some(map) = self.mapping.maps.get(index) {
            let result = map.map_result(mapped.position, bias);
            if let (Some(recovery), Some(mirror)) = (result.recovery, self.mapping.mirrors[index]) {
                mapped.position = self.mapping.maps[mirror].recover(recovery);
                index = mirror + 1;
                continue;
            }
            mapped.position = result.position;
            mapped.deletion = mapped.deletion.or(result.deletion);
            index += 1;
        }
        mapped
    }
}

impl<'a> From<&'a Mapping> for MappingView<'a> {
    fn from(mapping: &'a Mapping) -> Self {
        mapping.starting_at(0)
    }
}

impl From<StepMap> for MappingView<'_> {
    fn from(map: StepMap) -> Self {
        Self {
            mapping: Cow::Owned(Mapping::new(vec![map])),
            first: 0,
        }
    }
}
