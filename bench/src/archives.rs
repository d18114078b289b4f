//! Memory that the service needs to stream the archive of a topic and a PDF. It must not grow with their size.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::ensure;
use serde_json::json;

use crate::process::{ServiceProcess, StartOptions};
use crate::seed::{BenchUser, SeedClient, id};
use crate::{cpu, saves};

/// Documents in the archive, one per group.
const DOCUMENTS: usize = 20;
/// Bytes of each document.
const SIZE: usize = 6_000_000;

/// Peak memory above the level before, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct PeakMemory {
    /// While the archive was streamed.
    pub archive: u64,
    /// Bytes of the archive.
    pub archive_size: u64,
    /// While a PDF was streamed.
    pub pdf: u64,
    /// Bytes of the PDF.
    pub pdf_size: u64,
}

/// Fills a topic with documents and downloads its archive and one PDF.
pub async fn measure(folder: &Path, results: SocketAddr) -> anyhow::Result<PeakMemory> {
    let measured = ServiceProcess::start(&StartOptions::usual(folder, results))?;
    let (people, process) = (measured.people()?, measured.process());
    let asking = SeedClient::new(&measured.base)?;
    let class = asking.class_of(people, "The class with large files").await?;
    let groups: Vec<&str> = class.groups.iter().map(|(group, _)| group.as_str()).collect();
    let topic = json!({
        "title": "Large files", "deadline": "2027-01-15T10:00:00Z",
        "classId": class.id, "courseId": class.course, "groupIds": groups,
    });
    let topic = id(&asking.post(&people.teacher, "/assignments", topic).await?)?;
    let text: Vec<u8> = (0..SIZE).map(|_| rand::random_range(b'a'..=b'z')).collect();
    for (_, room) in class.groups.iter().take(DOCUMENTS) {
        let document = (room.as_str(), Some(topic.as_str()));
        asking
            .upload(&people.teacher, document, "large.txt", text.clone())
            .await?;
    }
    let first = asking.upload(&people.teacher, (&class.groups[0].1, None), "large.txt", text);
    let first = first.await?;
    let archive = format!("/api/assignments/{topic}/export.zip");
    // Warms up: memory that the process keeps for good is not counted.
    stream(&measured, &people.teacher, &archive).await?;
    let before = cpu::memory(process)?;
    let (archive_size, most) = stream(&measured, &people.teacher, &archive).await?;
    ensure!(
        archive_size > u64::try_from(SIZE * DOCUMENTS / 2)?,
        "a small archive: {archive_size}"
    );
    let archive = most.saturating_sub(before);
    let before = cpu::memory(process)?;
    let path = format!("/api/workrooms/documents/{first}/pdf");
    let (pdf_size, most) = stream(&measured, &people.teacher, &path).await?;
    ensure!(pdf_size >= u64::try_from(saves::PDF_SIZE)?, "a small PDF: {pdf_size}");
    Ok(PeakMemory {
        archive,
        archive_size,
        pdf: most.saturating_sub(before),
        pdf_size,
    })
}

/// Streams a response. Returns its length and the peak memory of the service meanwhile.
async fn stream(measured: &ServiceProcess, person: &BenchUser, path: &str) -> anyhow::Result<(u64, u64)> {
    let http = reqwest::Client::builder().no_proxy().build()?;
    let request = http.get(format!("{}{path}", measured.base));
    let mut answer = request.header("cookie", &person.cookie).send().await?;
    let status = answer.status();
    ensure!(
        status.is_success(),
        "{path} answered {status}: {}",
        answer.text().await?
    );
    let (mut length, mut most, mut pieces) = (0, 0, 0_u32);
    while let Some(piece) = answer.chunk().await? {
        length += u64::try_from(piece.len())?;
        pieces += 1;
        if pieces.is_multiple_of(64) {
            most = most.max(cpu::memory(measured.process())?);
        }
    }
    Ok((length, most))
}
