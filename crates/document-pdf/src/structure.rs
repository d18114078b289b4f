//! The structure tree: what assistive technology reads instead of the page.

use krilla::tagging::{Identifier, TagGroup, TagKind, TagTree};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupId(usize);

/// A piece of marked content or an annotation. It gets its identifier when its page is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContentId(pub(crate) usize);

pub(crate) struct Structure {
    groups: Vec<StructureGroup>,
    contents: usize,
}

struct StructureGroup {
    tag: Option<TagKind>,
    children: Vec<StructureChild>,
}

#[derive(Clone, Copy)]
enum StructureChild {
    Group(GroupId),
    Content(ContentId),
}

impl Structure {
    pub(crate) const ROOT: GroupId = GroupId(0);

    pub(crate) fn new() -> Self {
        let root = StructureGroup {
            tag: None,
            children: Vec::new(),
        };
        Self {
            groups: vec![root],
            contents: 0,
        }
    }

    pub(crate) fn add_group(&mut self, parent: GroupId, tag: impl Into<TagKind>) -> GroupId {
        let group = self.add_detached(tag);
        self.attach(parent, group);
        group
    }

    /// Adds a group whose place in the reading order is not known yet.
    pub(crate) fn add_detached(&mut self, tag: impl Into<TagKind>) -> GroupId {
        let group = GroupId(self.groups.len());
        self.groups.push(StructureGroup {
            tag: Some(tag.into()),
            children: Vec::new(),
        });
        group
    }

    pub(crate) fn attach(&mut self, parent: GroupId, group: GroupId) {
        self.groups[parent.0].children.push(StructureChild::Group(group));
    }

    pub(crate) fn add_content(&mut self, parent: GroupId) -> ContentId {
        let content = ContentId(self.contents);
        self.contents += 1;
        self.groups[parent.0].children.push(StructureChild::Content(content));
        content
    }

    pub(crate) fn into_tree(mut self, identifiers: &[Option<Identifier>], language: &str) -> TagTree {
        let mut tree = TagTree::new().with_lang(Some(language.to_owned()));
        for child in std::mem::take(&mut self.groups[Self::ROOT.0].children) {
            match child {
                StructureChild::Group(group) => tree.push(self.take_group(group, identifiers)),
                StructureChild::Content(content) => {
                    if let Some(identifier) = identifiers.get(content.0).copied().flatten() {
                        tree.push(identifier);
                    }
                }
            }
        }
        tree
    }

    /// The depth is limited by that of documents.
    fn take_group(&mut self, group: GroupId, identifiers: &[Option<Identifier>]) -> TagGroup {
        let children = std::mem::take(&mut self.groups[group.0].children);
        let tag = self.groups[group.0]
            .tag
            .take()
            .expect("only the root has no tag, and each group one parent");
        let mut tagged = TagGroup::new(tag);
        for child in children {
            match child {
                StructureChild::Group(group) => tagged.push(self.take_group(group, identifiers)),
                StructureChild::Content(content) => {
                    if let Some(identifier) = identifiers.get(content.0).copied().flatten() {
                        tagged.push(identifier);
                    }
                }
            }
        }
        tagged
    }
}
