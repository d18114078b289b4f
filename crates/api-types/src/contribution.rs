//! Editing statistics of a group, for its teachers.

use api_macros::view;
use std::collections::BTreeMap;

use domain::contribution::{Contribution, share};
use domain::group::GroupMember;
use domain::id::{DocumentId, UserId};
use domain::time::Timestamp;
use domain::user::Person;

/// Editing statistics of a member of a group, or of another user in the documents of the group.
#[view]
pub struct MemberContributionView {
    user_id: UserId,
    name: String,
    image: Option<String>,
    /// Whether the user is a member of the group at present.
    is_member: bool,
    /// Time in editors of the group's documents, in whole minutes. Documents that are open at the same time are counted
    /// once.
    minutes: i64,
    /// Number of saves that contain edits of the user.
    saves: i64,
    /// Number of characters of the user in the texts of the group's documents, as they were last saved; null if none was
    /// edited in the built-in editor.
    characters: Option<i64>,
    /// These characters in percent of all characters of the texts, rounded.
    share: Option<i64>,
    first_edited_at: Option<Timestamp>,
    last_edited_at: Option<Timestamp>,
    documents: Vec<DocumentContributionView>,
}

/// Editing statistics of a user in one document.
#[view]
pub struct DocumentContributionView {
    document_id: DocumentId,
    title: String,
    minutes: i64,
    saves: i64,
    /// Number of characters of the user in the text, as it was last saved; null if the document was not edited in the
    /// built-in editor.
    characters: Option<i64>,
    /// These characters in percent of the text, rounded.
    share: Option<i64>,
    first_edited_at: Timestamp,
    last_edited_at: Timestamp,
}

impl MemberContributionView {
    /// Returns the members in the order of the group, followed by users who edited its documents without being members.
    pub fn all(members: &[GroupMember], found: Vec<(Person, Vec<Contribution>)>) -> Vec<Self> {
        let all = found.iter().flat_map(|(_, contributions)| contributions);
        let lengths: BTreeMap<&DocumentId, i64> = all
            .filter_map(|one| Some((&one.document_id, one.text_characters?)))
            .collect();
        let total = (!lengths.is_empty()).then(|| lengths.values().sum());
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for member in members {
            inside.push(Self::new(member.user.clone(), true, Vec::new(), total));
        }
        for (person, contributions) in found {
            match inside.iter_mut().find(|view| view.user_id == person.id) {
                Some(view) => *view = Self::new(person, true, contributions, total),
                None => outside.push(Self::new(person, false, contributions, total)),
            }
        }
        inside.extend(outside);
        inside
    }

    /// `total` is the number of characters of all texts of the group, if there are any.
    fn new(person: Person, is_member: bool, contributions: Vec<Contribution>, total: Option<i64>) -> Self {
        let characters = total.map(|_| contributions.iter().filter_map(|one| one.characters).sum());
        let millis: i64 = contributions.iter().map(|one| one.editing_millis).sum();
        Self {
            user_id: person.id,
            name: person.name,
            image: person.image,
            is_member,
            minutes: millis / 60_000,
            saves: contributions.iter().map(|one| one.saves).sum(),
            characters,
            share: characters.zip(total).and_then(|(own, total)| share(own, total)),
            first_edited_at: contributions.iter().map(|one| one.first_at).min(),
            last_edited_at: contributions.iter().map(|one| one.last_at).max(),
            documents: contributions.into_iter().map(DocumentContributionView::from).collect(),
        }
    }
}

impl From<Contribution> for DocumentContributionView {
    fn from(one: Contribution) -> Self {
        Self {
            document_id: one.document_id,
            title: one.title,
            minutes: one.editing_millis / 60_000,
            saves: one.saves,
            characters: one.characters,
            share: one
                .characters
                .zip(one.text_characters)
                .and_then(|(own, total)| share(own, total)),
            first_edited_at: one.first_at,
            last_edited_at: one.last_at,
        }
    }
}
