//! The report of an import: the number of rows by result, and every row.

use api_macros::view;
use domain::id::UserId;
use domain::import::{ImportCounts, RowProblem, RowStatus};
use utoipa::ToSchema;

/// Result of an import.
#[derive(ToSchema)]
#[schema(as = ImportReport)]
#[expect(dead_code, reason = "describes the schema; the response is written piece by piece")]
pub struct ImportReportView {
    /// Whether this was a dry run that changed nothing.
    #[schema(rename = "dryRun")]
    dry_run: bool,
    /// Number of rows that created a user or a membership.
    created: i64,
    /// Number of rows that updated an existing member.
    updated: i64,
    /// Number of rows that invited an address whose account another organization created.
    invited: i64,
    /// Number of rows that changed nothing.
    skipped: i64,
    /// Number of rejected rows.
    failed: i64,
    /// All rows, in the order in which they were processed.
    rows: Vec<ImportRowView>,
}

/// Result of one row.
#[view]
pub struct ImportRowView {
    /// Name of the file in a ZIP archive; absent for other imports.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'static str>,
    /// Row number. In a file as shown by a spreadsheet, where the header is row 1; in a JSON body the position of the
    /// entry, counted from 1.
    row: usize,
    status: RowStatus,
    /// The user of the row; absent if there is none, and for users that a dry run would create.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<UserId>,
    /// Why the row was rejected, with the columns concerned.
    errors: Vec<RowProblem>,
}

impl ImportRowView {
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

/// Returns the beginning of the JSON report. The rows follow, separated by commas.
pub fn begin(is_dry_run: bool) -> String {
    format!("{{\"dryRun\":{is_dry_run},\"rows\":[")
}

/// Returns the end of the JSON report.
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
