//! Finishing a topic of thirty groups with a growing number of documents. The document server is asked about each
//! document and knows none. The cost per document must not grow.

use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::json;

use crate::cpu;
use crate::seed::{BenchUser, BenchUsers, GROUPS, SeedClient};

/// Documents of the topics: one, three and thirty per group.
pub const DOCUMENTS: [usize; 3] = [GROUPS, 3 * GROUPS, 30 * GROUPS];

/// Cost of finishing a topic once.
#[derive(Debug, Clone, Copy)]
pub struct FinishCost {
    /// Time until the response.
    pub time: Duration,
    /// CPU of the service.
    pub cpu: Duration,
}

/// Three topics with their documents.
pub struct FinishBenchmark<'b> {
    asking: SeedClient<'b>,
    teacher: BenchUser,
    topics: Vec<String>,
}

impl<'b> FinishBenchmark<'b> {
    /// Creates the topics, all with the same groups.
    pub async fn open(base: &'b str, people: &BenchUsers) -> anyhow::Result<Self> {
        let asking = SeedClient::new(base)?;
        let teacher = people.teacher.clone();
        let class = asking.class_of(people, "The class that finishes").await?;
        let mut topics = Vec::new();
        let ids: Vec<&str> = class.groups.iter().map(|(group, _)| group.as_str()).collect();
        for documents in DOCUMENTS {
            let new = json!({
                "title": format!("{documents} documents"), "deadline": "2027-01-15T10:00:00Z",
                "classId": class.id, "courseId": class.course, "groupIds": ids,
            });
            let topic = crate::seed::id(&asking.post(&teacher, "/assignments", new).await?)?;
            for (_, room) in &class.groups {
                for number in 0..documents / GROUPS {
                    let new = json!({"title": format!("Page {number}"), "documentType": "word", "assignmentId": topic});
                    asking
                        .post(&teacher, &format!("/workrooms/{room}/documents"), new)
                        .await?;
                }
            }
            topics.push(topic);
        }
        Ok(Self {
            asking,
            teacher,
            topics,
        })
    }

    /// Finishes and reopens every topic.
    pub async fn round(&self, process: u32) -> anyhow::Result<Vec<FinishCost>> {
        let mut round = Vec::new();
        for (topic, documents) in self.topics.iter().zip(DOCUMENTS) {
            let (used, begin) = (cpu::used(process)?, Instant::now());
            let path = format!("/assignments/{topic}/finish");
            let finished = self.asking.post(&self.teacher, &path, json!({})).await?;
            let (time, cpu) = (begin.elapsed(), cpu::used(process)?.saturating_sub(used));
            ensure!(finished["lockedDocuments"] == documents, "{finished}");
            ensure!(finished["unsavedDocuments"] == json!([]), "{finished}");
            round.push(FinishCost { time, cpu });
            let reopen = format!("/assignments/{topic}/reopen");
            self.asking.post(&self.teacher, &reopen, json!({})).await?;
        }
        Ok(round)
    }
}
