//! Packs: commits that are stored in one row, as compressed JSON. The steps of one document resemble each other, so a
//! pack is a small part of the size of its rows. Every commit keeps its version, so clients that were offline since
//! before the pack can still be served.

use std::io::{BufReader, Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use domain::document_log::DocumentCommit;
use domain::id::UserId;
use domain::time::Timestamp;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use common::error::Result;

/// Maximum size of a pack as JSON, in bytes: [`super::PACK_MAX`] commits of the size that a request may have.
const UNPACKED_MAX: u64 = 256 << 20;

#[derive(Serialize, Deserialize)]
struct Pack {
    authors: Vec<String>,
    clients: Vec<String>,
    commits: Vec<PackedCommit>,
}

/// A commit: the indexes of author and client, the reference, the milliseconds since the commit before, the steps.
#[derive(Serialize, Deserialize)]
struct PackedCommit(usize, usize, String, i64, Vec<Value>);

/// Compresses commits with consecutive versions.
pub(super) fn pack(commits: &[DocumentCommit]) -> Result<String> {
    let mut pack = Pack {
        authors: Vec::new(),
        clients: Vec::new(),
        commits: Vec::with_capacity(commits.len()),
    };
    let mut before = 0;
    for commit in commits {
        let author = index_of(&mut pack.authors, commit.author_id.as_str());
        let client = index_of(&mut pack.clients, &commit.client_id);
        let at = commit.committed_at.as_millis();
        let steps = commit.steps.clone();
        let packed = PackedCommit(author, client, commit.reference.clone(), at - before, steps);
        pack.commits.push(packed);
        before = at;
    }
    compress(&pack)
}

/// Returns the commits of a pack; `first` is the version of the first one.
pub(super) fn unpack(first: i64, text: &str) -> Result<Vec<DocumentCommit>> {
    let bytes = BASE64
        .decode(text)
        .map_err(|error| anyhow::anyhow!("packed commits: {error}"))?;
    let mut json = Vec::new();
    DeflateDecoder::new(bytes.as_slice())
        .take(UNPACKED_MAX)
        .read_to_end(&mut json)?;
    let pack: Pack = serde_json::from_slice(&json)?;
    let mut at = 0;
    let unpacked = pack.commits.into_iter().zip(first..).map(|(commit, version)| {
        let PackedCommit(author, client, reference, since, steps) = commit;
        let (author, client) = (pack.authors.get(author)?, pack.clients.get(client)?);
        at += since;
        Some(DocumentCommit {
            version,
            reference,
            client_id: client.clone(),
            author_id: UserId::new(author),
            committed_at: Timestamp::from_millis(at),
            steps,
        })
    });
    let commits: Option<Vec<_>> = unpacked.collect();
    commits.ok_or_else(|| anyhow::anyhow!("packed commits: an index is out of range").into())
}

/// The authors alone: the commits are skipped while they are read, so memory does not depend on them.
#[derive(Deserialize)]
struct PackAuthors {
    authors: Vec<String>,
}

/// Calls `rename` with every author of a pack, and returns the pack with the returned ids, or `None` if none changed.
pub(crate) fn rename_authors(text: &str, rename: &mut dyn FnMut(&str) -> Option<String>) -> Result<Option<String>> {
    let bytes = BASE64
        .decode(text)
        .map_err(|error| anyhow::anyhow!("packed commits: {error}"))?;
    let json = || BufReader::new(DeflateDecoder::new(bytes.as_slice()).take(UNPACKED_MAX));
    let PackAuthors { mut authors } = serde_json::from_reader(json())?;
    let mut is_changed = false;
    for author in &mut authors {
        if let Some(other) = rename(author) {
            *author = other;
            is_changed = true;
        }
    }
    if !is_changed {
        return Ok(None);
    }
    let pack: Pack = serde_json::from_reader(json())?;
    compress(&Pack { authors, ..pack }).map(Some)
}

fn compress(pack: &Pack) -> Result<String> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&serde_json::to_vec(pack)?)?;
    Ok(BASE64.encode(encoder.finish()?))
}

fn index_of(list: &mut Vec<String>, text: &str) -> usize {
    list.iter().position(|one| one == text).unwrap_or_else(|| {
        list.push(text.to_owned());
        list.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// What four writers type, one character per commit.
    fn typed(count: usize) -> Vec<DocumentCommit> {
        let text = "The Rhine begins in Switzerland and ends in the North Sea. ";
        let characters = text.chars().cycle().flat_map(|one| [one; 4]);
        let commit = |(number, character): (i64, char)| {
            let (writer, position) = (number % 4, number / 4 + number % 4 * 1000);
            DocumentCommit {
                version: number + 1,
                reference: format!("k3j9x{writer}-{number}"),
                client_id: format!("k3j9x{writer}"),
                author_id: UserId::new(format!("01a215b6-c3c3-768a-a4f3-0baa908c6c6{writer}")),
                committed_at: Timestamp::from_millis(1_790_000_000_000 + number * 137 + number % 7),
                steps: vec![json!({"stepType": "replace", "from": position, "to": position,
                    "slice": {"content": [{"type": "text", "text": character.to_string()}]}})],
            }
        };
        (0..).zip(characters).take(count).map(commit).collect()
    }

    #[test]
    fn authors_of_a_pack_are_renamed() -> Result<()> {
        let commits = typed(8);
        let packed = pack(&commits)?;
        let mut seen = Vec::new();
        let same = rename_authors(&packed, &mut |author| {
            seen.push(author.to_owned());
            None
        })?;
        assert_eq!((same, seen.len()), (None, 4));
        let renamed = rename_authors(&packed, &mut |author| (author == seen[1]).then(|| "other".to_owned()))?;
        let renamed = unpack(1, &renamed.unwrap_or_default())?;
        assert_eq!(renamed.len(), commits.len());
        for (now, before) in renamed.iter().zip(&commits) {
            let is_same = now.author_id == before.author_id && before.author_id.as_str() != seen[1];
            assert!(is_same || now.author_id.as_str() == "other");
            assert_eq!((&now.steps, now.committed_at), (&before.steps, before.committed_at));
        }
        Ok(())
    }

    #[test]
    fn pack_returns_its_commits() -> Result<()> {
        let commits = typed(200);
        assert_eq!(unpack(1, &pack(&commits)?)?, commits);
        let later: Vec<_> = commits[50..].to_vec();
        assert_eq!(unpack(51, &pack(&later)?)?, later);
        Ok(())
    }

    #[test]
    fn typed_characters_take_few_bytes() -> Result<()> {
        let packed = pack(&typed(200))?.len();
        assert!(packed < 200 * 32, "{packed} bytes for 200 characters");
        Ok(())
    }

    #[test]
    fn damaged_pack_is_an_error() -> Result<()> {
        let text = pack(&typed(3))?;
        assert!(unpack(1, &text[..text.len() - 4]).is_err());
        assert!(unpack(1, "?").is_err());
        Ok(())
    }
}
