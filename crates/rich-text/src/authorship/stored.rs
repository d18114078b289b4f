//! The JSON of an authorship: `{"a": authors, "r": [author, length, …], "d": [[text, author, length, …], …]}`. Authors are
//! indexes, -1 is an unknown one.

use serde::{Deserialize, Serialize};

use super::{AuthorRun, Authorship, RemovedPassage, collapse, expand};
use crate::RichTextError;

#[derive(Serialize, Deserialize)]
struct StoredAuthorship {
    a: Vec<String>,
    r: Vec<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    d: Vec<(String, Vec<i64>)>,
}

impl Authorship {
    /// Returns the authorship as compact JSON.
    pub fn to_json(&self) -> String {
        // A passage that begins or ends inside of a surrogate pair is not stored.
        let removed = self.removed.iter().filter_map(|passage| {
            let text = String::from_utf16(&passage.text).ok()?;
            Some((text, numbers(&collapse(&passage.authors))))
        });
        let stored = StoredAuthorship {
            a: self.authors.clone(),
            r: numbers(&self.runs),
            d: removed.collect(),
        };
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// Reads [`Authorship::to_json`].
    pub fn from_json(text: &str) -> Result<Self, RichTextError> {
        let stored: StoredAuthorship = serde_json::from_str(text).map_err(|_| RichTextError::Field("authorship"))?;
        let authors = stored.a.len();
        let mut removed = std::collections::VecDeque::new();
        for (text, runs) in stored.d {
            let passage = RemovedPassage {
                text: text.encode_utf16().collect(),
                authors: expand(&runs_of(&runs, authors)?),
            };
            if passage.text.len() != passage.authors.len() {
                return Err(RichTextError::Field("authorship"));
            }
            removed.push_back(passage);
        }
        Ok(Self {
            runs: runs_of(&stored.r, authors)?,
            authors: stored.a,
            removed,
        })
    }
}

fn numbers(runs: &[AuthorRun]) -> Vec<i64> {
    let number = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
    let pairs = runs
        .iter()
        .flat_map(|run| [run.author.map_or(-1, number), number(run.length)]);
    pairs.collect()
}

fn runs_of(numbers: &[i64], authors: usize) -> Result<Vec<AuthorRun>, RichTextError> {
    let invalid = RichTextError::Field("authorship");
    let mut runs = Vec::with_capacity(numbers.len() / 2);
    let mut rest = numbers;
    while let [author, length, others @ ..] = rest {
        let author = match author {
            -1 => None,
            author => Some(usize::try_from(*author).map_err(|_| invalid.clone())?),
        };
        let length = usize::try_from(*length).map_err(|_| invalid.clone())?;
        if author.is_some_and(|author| author >= authors) || length > crate::limits().size {
            return Err(invalid);
        }
        runs.push(AuthorRun { author, length });
        rest = others;
    }
    if rest.is_empty() { Ok(runs) } else { Err(invalid) }
}
