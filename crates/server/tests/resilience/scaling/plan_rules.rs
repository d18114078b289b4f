//! The accesses that a plan must not contain, and the statements that are exempt, each with its reason.

use std::collections::{BTreeMap, BTreeSet};

use super::query_plan::{Plan, TableAccess};

/// Tables with at most one row for each school. Reading one of them completely is cheap.
pub const SMALL: [&str; 4] = ["organizations", "settings", "storage_usages", "refinery_schema_history"];

/// The set of rows that an access to a table reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// All rows of all schools.
    All,
    /// All rows on one side of a value, in the order of an index.
    Range,
    /// All rows of one school.
    School,
    /// Rows that are not yet expired, in addition to the expired ones.
    Young,
    /// Only the requested rows.
    Narrow,
}

/// Statements that may read all rows of all schools. A `*` matches the rest of a name.
pub const ALL: &[(&str, &str)] = &[
    (
        "platform/administration::LIST",
        "the list of all accounts, sorted and filtered by any of their columns",
    ),
    ("platform/administration::COUNT", "how many of them there are"),
    ("platform/backups::ERASED", "a backup names everybody who was erased"),
    (
        "platform/sign_in::ANY_EXPIRED",
        "what is over, and a count of a table with a bound, every ten minutes",
    ),
    (
        "platform/sign_in::LIMIT_COUNTS",
        "a table with a bound, where it has grown beyond it",
    ),
    ("platform/backups::WAITS", "ends at the first row"),
    (
        "platform/backups::SAMPLED_FILES",
        "ends after twenty entries of an index; once at a start",
    ),
    (
        "platform/editing::SILENT_SESSIONS",
        "open editors of all schools, the longest silent first",
    ),
    (
        "platform/erasure::VERIFICATIONS",
        "mailed links live for hours; the name of one stands within a text",
    ),
    (
        "platform/erasure::RATES",
        "counters are forgotten within an hour; a person stands within their names",
    ),
    (
        "platform/erasure::IDEMPOTENCY_KEYS",
        "answers are kept for a day; a person stands within their texts, and an erasure is rare",
    ),
    (
        "platform/erasure::FORMER_GRADES",
        "grades of single members stand within a text; an erasure is rare",
    ),
    ("platform/erasure::EXPORTS", "jobs are kept for days"),
    ("platform/erasure::JOBS", "jobs are kept for days"),
    (
        "platform/gdpr::HOLDERS",
        "who took part stands within a text; once for an export of one's own data",
    ),
    (
        "platform/sign_on::SECRETS",
        "all client secrets, when the service starts while AUTH_SECRET is replaced",
    ),
    (
        "platform/rosters::SECRETS",
        "all client secrets, when the service starts while AUTH_SECRET is replaced",
    ),
    ("platform/system::*", "counts what there is, up to a limit"),
    (
        "platform/operations::EMAIL_QUEUE",
        "counts the emails that wait, of which there are few",
    ),
    ("dump/load::*", "a restore has the database to itself"),
    (
        "dump/school_completion::*",
        "an import of a school is rare, and reads all of its rows",
    ),
    ("dump/school_import::REMOVAL", "files to be removed are few"),
];

/// Statements that may read all rows on one side of a value: sweeps of due rows, of which there are few, and pages in
/// the order of that value.
pub const RANGE: &[(&str, &str)] = &[
    (
        "platform/sign_in::EXPORTED_FAILURES",
        "a page of an export in the order of that value",
    ),
    ("platform/email_outbox::DUE", "what is due"),
    ("platform/file_removals::DUE", "what is due"),
    ("platform/mail_domains::DUE", "what is due"),
    ("platform/rosters::DUE", "what is due"),
    ("platform/rosters::LOST", "unfinished runs, by an index of these alone"),
    (
        "platform/editing::FREEZING",
        "documents whose freeze is not complete, by an index of these alone",
    ),
    (
        "platform/document_log::UNPACKED",
        "logs with commits that are not packed, by an index of these alone",
    ),
    (
        "platform/document_log::LATE",
        "late commits that no version contains yet, by an index of these alone",
    ),
    (
        "platform/document_log::UNSAVED",
        "documents whose commits no file contains yet, by an index of these alone",
    ),
    ("platform/listeners::BETWEEN", "sessions between two that are known"),
    ("platform/accounts::FORGET_VERIFICATIONS", "what is over"),
    ("platform/jobs::*", "what is over"),
    (
        "platform/old_messages::*",
        "what was deleted long ago, by the index of what is deleted",
    ),
    ("platform/system::WAITING", "by the indexes of what waits"),
    ("platform/outbox::PRUNE", "what is over"),
    (
        "platform/staged_files::*",
        "what waits too long, by the index of what waits",
    ),
    (
        "platform/second_factors::SECRETS",
        "all secrets, when the service starts while AUTH_SECRET is replaced",
    ),
    ("platform/sign_in::FORGET_FAILURES", "what is over"),
    ("platform/sign_in::EXPIRE_*", "what is over"),
    ("platform/sign_in::ANY_EXPIRED", "what is over"),
    ("platform/sign_on::EXPIRE_*", "what is over"),
    ("platform/sign_on::ANY_EXPIRED", "what is over"),
    ("platform/idempotency::ANY", "what is over"),
    ("platform/idempotency::EXPIRE", "what is over"),
    ("platform/archives::ANY_EXPIRED", "what is over"),
    ("platform/archives::EXPIRED", "what is over"),
    (
        "platform/deleted_documents::*",
        "what is over, and documents whose editors have still to be closed, by an index of these alone",
    ),
    (
        "platform/email_outbox::AFTER",
        "letters that wait, of which there are few; for an erasure",
    ),
    (
        "platform/sign_in::IMPORTED",
        "by the index of what another program hashed, and ends at the first",
    ),
    ("platform/erasure::RECORDS", "what has come to the log within minutes"),
    (
        "platform/erasure::FOUND",
        "names stand within the texts of the log; an erasure is rare and reads it in pieces",
    ),
    ("platform/erasure::STRIDE_END", "where such a piece ends"),
    (
        "dump/school_completion::HANDED_OUT_FILE",
        "an import of a school is rare; by an index of the documents that were handed out alone",
    ),
];

/// Statements that may read all rows of one school.
pub const SCHOOL: &[(&str, &str)] = &[
    (
        "dump/school_completion::*",
        "an import of a school is rare, and reads all of its rows",
    ),
    ("activity::OWN_CLASSES", "a school has tens of classes"),
    ("rooms::ROOMS", "a school has tens of classes"),
    ("classes::LIST*", "the list of the school's classes"),
    (
        "homerooms::WITH_CLASS",
        "the classes of a school, for all of its homerooms",
    ),
    ("rosters::DELETE_JOB", "the jobs of a school are kept for days"),
    ("archives::BYTES", "the files of what was deleted within a month"),
    ("archives::NEXT", "ends at the first"),
    ("archives::SUBJECTS", "a school has tens of subjects"),
    ("archives::restore::MEMBERS", "only where a class is restored"),
    ("archives::restore::HOMEROOMS", "only where a class is restored"),
    ("archives::restore::SUBJECTS", "a school has tens of subjects"),
    ("courses::LIST", "the list of the school's courses"),
    ("subjects::LIST", "the list of the school's subjects"),
    ("homerooms::LIST", "the list of the school's homerooms"),
    ("invitations::NEWEST", "the library's list, of a thousand at most"),
    ("rubrics::LIST", "a school has a thousand rubrics at most"),
    ("rubrics::COUNT", "a school has a thousand rubrics at most"),
    ("api_tokens::LIST", "a school has fifty API tokens at most"),
    ("api_tokens::COUNT", "a school has fifty API tokens at most"),
    ("mail_domains::LIST", "a school has twenty mail domains at most"),
    (
        "platform/sign_on::OF_*",
        "a school has twenty sign-on providers at most",
    ),
    (
        "platform/sign_on::SETTINGS_FOR_PASSWORDS",
        "a school has twenty sign-on providers at most",
    ),
    (
        "platform/sign_on::COUNT_ATTEMPTS",
        "sign-ins that wait for minutes, up to a limit",
    ),
    (
        "sign_on::DELETE_ATTEMPTS",
        "sign-ins that wait for minutes, up to a limit",
    ),
    ("sign_on::DELETE_LOGOUTS", "logout tokens of half an hour"),
    ("sign_on::LIST", "a school has twenty sign-on providers at most"),
    ("sign_on::COUNT", "a school has twenty sign-on providers at most"),
    ("rosters::LIST", "a school has ten roster sources at most"),
    ("rosters::COUNT", "a school has ten roster sources at most"),
    ("mail_domains::COUNT", "a school has twenty mail domains at most"),
    ("mail_domains::HELD", "a school has twenty mail domains at most"),
    (
        "people::NAMES_TAKEN",
        "names that begin alike; a school has a thousand members",
    ),
    ("assignments::STAFF_LIST", "the list of the school's topics"),
    ("attachments::OF_STAFF_LIST", "the files of that list"),
    ("group_assignments::OF_STAFF_LIST", "the links of that list"),
    ("group_assignments::of_staff_list::*", "the links of that list"),
    ("groups::all::*", "the list of the school's groups"),
    ("work_rooms::ALL", "the list of the school's rooms"),
    ("members::VISIBLE", "the list of the school's members"),
    (
        "members::LIST",
        "a page sorted by names, which stand in another table; a school has a thousand members",
    ),
    (
        "users::LIST",
        "a page sorted by names, which stand in another table; a school has a thousand members",
    ),
    ("organizations::SESSIONS", "a school that goes ends its sessions"),
    ("organizations::LEAVE", "a school that goes ends its sessions"),
    ("organizations::MEMBER_COUNT", "counts the members"),
    ("platform/organizations::FORGOTTEN", "jobs of a school that was deleted"),
    ("imports::CLASSES_NAMED", "a school has tens of classes"),
    ("imports::HOMEROOM_NAMED", "a school has tens of homerooms"),
    ("editor_access_revocation::OPEN", "editors that are open now"),
    ("saves::SESSIONS_OF_TOPIC", "editors that are open now"),
    ("rate_windows::FORGET", "counters are forgotten within an hour"),
    ("overview::STATS", "sums of the school"),
    ("organization_stats::COUNTS", "sums of the school"),
    ("storage::*", "the count of what a school keeps, once an hour at most"),
    (
        "submissions::grades::NAMES_OF_TOPIC",
        "who took part stands within a text; once for a table of grades",
    ),
    (
        "gdpr/export_tables::*",
        "an export of a person, in the background; who took part stands within a text",
    ),
    (
        "gdpr/files::*",
        "an export of a person, in the background; who took part stands within a text",
    ),
    ("deleted_documents::ALL", "late texts are kept for a day"),
    ("gdpr/hidden::*", "an export of a person, in the background"),
    ("purge::*", "a school that goes, in pieces"),
];

/// Statements that may read rows that are not yet expired.
pub const YOUNG: &[(&str, &str)] = &[(
    "platform/old_messages::DELETE_WAITING",
    "files that wait for their message, of a day at most",
)];

/// Accesses that PostgreSQL uses with few rows, artificial row counts and some plan types disabled, but not with many
/// rows. The soak run checks these statements without an exemption.
pub const SMALL_POSTGRES: &[(&str, &str)] = &[
    (
        "deleted_documents::*",
        "late texts are kept for a day, and there are none",
    ),
    (
        "platform/deleted_documents::*",
        "late texts are kept for a day, and there are none",
    ),
    (
        "platform/resource_tenant::LATE_TEXT",
        "late texts are kept for a day, and there are none",
    ),
    ("storage::*", "begins with whatever table has the fewest rows"),
    ("work_rooms::ALL", "one index of groups is as short as the other"),
    (
        "cascade::topic::DETACHED_DOCUMENTS",
        "a topic has as many documents as there are, by made-up numbers",
    ),
    (
        "cascade::group::DETACHED_DOCUMENTS",
        "a topic has as many documents as there are, by made-up numbers",
    ),
    (
        "purge::JOB_FILES",
        "by the index of jobs that made a file, which are kept for days",
    ),
    (
        "users::LIST",
        "begins with users where there are as few of them as members",
    ),
    (
        "platform/old_messages::*",
        "begins with files where there are as few of them as deleted messages",
    ),
];

/// Tables that PostgreSQL scans sequentially with all the data, either by its own choice or because of a wrong
/// estimate.
pub const LARGE_POSTGRES: &[(&str, &str)] = &[
    ("platform/old_messages::*", "as many deleted messages as files; a sweep"),
    ("platform/staged_files::ANY", "ends at the first, and there are none"),
];

/// Indexes that occur in no plan, each with its reason.
pub const SILENT: &[(&str, &str)] = &[
    (
        "message_attachments_unused_idx",
        "PostgreSQL goes by it; SQLite finds the same files by the message they lack",
    ),
    (
        "deleted_documents_open_idx",
        "few documents are in it; a planner may go by the day of the deletion instead",
    ),
];

/// Returns the pattern in `list` that matches the statement, if there is one.
pub fn reason(list: &[(&'static str, &'static str)], statement: &str) -> Option<&'static str> {
    let names = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => statement.starts_with(start),
        None => statement == pattern,
    };
    list.iter()
        .find(|(pattern, _)| names(pattern))
        .map(|(pattern, _)| *pattern)
}

/// Returns the tables of a statement by name and alias.
pub fn tables(sql: &str) -> BTreeMap<String, String> {
    let words: Vec<&str> = sql
        .split(|character: char| !(character.is_ascii_alphanumeric() || character == '_'))
        .filter(|word| !word.is_empty())
        .collect();
    let mut tables = BTreeMap::new();
    for window in words.windows(3) {
        let [verb, table, alias] = window else { continue };
        if ["FROM", "JOIN", "UPDATE", "INTO"].contains(verb)
            && table.chars().all(|c| c.is_ascii_lowercase() || c == '_')
        {
            tables.insert((*table).to_owned(), (*table).to_owned());
            let is_name = alias
                .chars()
                .all(|character| character.is_ascii_lowercase() || character == '_');
            if is_name {
                tables.entry((*alias).to_owned()).or_insert_with(|| (*table).to_owned());
            }
        }
    }
    tables
}

/// Returns which part of its table an access reads. `partial` contains the partial indexes.
pub fn width(access: &TableAccess, partial: &BTreeSet<String>) -> Width {
    let narrowed = access.narrowed.replace("<=", "<").replace(">=", ">").replace("<>", "<");
    let is_partial = access.index.as_ref().is_some_and(|index| partial.contains(index));
    if is_partial {
        return if narrowed.contains('=') {
            Width::Narrow
        } else {
            Width::Range
        };
    }
    if access.index.is_none() || narrowed.is_empty() || access.skips {
        return Width::All;
    }
    let conditions: Vec<&str> = narrowed.split(" AND ").collect();
    let equal: BTreeSet<&str> = conditions
        .iter()
        .filter_map(|condition| condition.split_once('='))
        .map(|(column, _)| column.trim_matches(|character: char| "( ".contains(character)))
        .collect();
    let is_school = |column: &&&str| column.ends_with("organization_id");
    if equal.is_empty() && !narrowed.contains("IS NULL") && !narrowed.contains("ANY") {
        Width::Range
    } else if !equal.is_empty() && equal.iter().all(|column| is_school(&column)) && conditions.len() == equal.len() {
        Width::School
    } else {
        Width::Narrow
    }
}

fn is_expiry(sql: &str) -> bool {
    sql.trim_start().starts_with("DELETE") && sql.contains("created_at < ")
}

/// Returns every access in a plan that reads more than the requested rows.
pub fn findings(
    sql: &str,
    plan: &Plan,
    known: &BTreeSet<String>,
    partial: &BTreeSet<String>,
) -> BTreeSet<(Width, String)> {
    let called = tables(sql);
    let wide = plan.accesses.iter().filter_map(|access| {
        let table = called.get(&access.table).unwrap_or(&access.table);
        let counts = known.contains(table) && !SMALL.contains(&table.as_str());
        let width = match width(access, partial) {
            // A statement that deletes old rows must use the age in the index, otherwise it reads all retained rows
            // each time.
            Width::Narrow if is_expiry(sql) && !access.narrowed.contains("created_at<") => Width::Young,
            width => width,
        };
        (counts && width != Width::Narrow).then(|| (width, table.clone()))
    });
    wide.collect()
}
