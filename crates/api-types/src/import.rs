//! What an import answers: how many rows ended how, and every row.

use model::id::UserId;
use model::import::{ImportCounts, RowProblem, RowStatus};
use serde::Serialize;
use utoipa::ToSchema;

/// How an import went.
#[derive(ToSchema)]
#[schema(as = ImportReport)]
#[expect(dead_code, reason = "it is written piece by piece and read by the description alone")]
pub struct ImportReportView {
    /// Whether nothing was changed.
    #[schema(rename = "dryRun")]
    dry_run: bool,
    /// Rows that made something new.
    created: i64,
    /// Rows that changed something.
    updated: i64,
    /// Rows that invited an address whose account another organization created.
    invited: i64,
    /// Rows that said nothing new.
    skipped: i64,
    /// Rows that were refused.
    failed: i64,
    /// Every row, in the order in which they were carried out.
    rows: Vec<ImportRowView>,
}

/// How one row ended.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ImportRow)]
pub struct ImportRowView {
    /// The file of an archive that the row is in; absent for other imports.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'static str>,
    /// In a file the row as a spreadsheet counts, the header being 1; in a body the number of the entry, from 1.
    row: usize,
    /// How it ended.
    status: RowStatus,
    /// The person it was about; absent where there is none, and for people whom a dry run would make.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<UserId>,
    /// Why it was refused, with the columns in question.
    errors: Vec<RowProblem>,
}

impl ImportRowView {
    /// One row.
    pub fn new(
        file: Option<&'static str>,
        row: usize,
        status: RowStatus,
        user_id: Option<UserId>,
        errors: Vec<RowProblem>,
    ) -> Self {
        Self {
            file,
            row,
            status,
            user_id,
            errors,
        }
    }
}

/// How the answer begins; rows follow, with commas between them.
pub fn begin(is_dry_run: bool) -> String {
    format!("{{\"dryRun\":{is_dry_run},\"rows\":[")
}

/// How the answer ends.
pub fn end(counts: ImportCounts) -> String {
    let ImportCounts {
        created,
        updated,
        invited,
        skipped,
        failed,
    } = counts;
    format!(
        "],\"created\":{created},\"updated\":{updated},\"invited\":{invited},\"skipped\":{skipped},\"failed\":{failed}}}"
    )
}
