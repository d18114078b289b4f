//! Reads change nothing: the test calls every GET route in every role that may call it, and afterwards no row of any
//! table has changed.

use api::router;

use test_support::LessonFixture;
use test_support::tables::fingerprints;

/// Tables that a read may write: cached PDFs, and the activity log record of a data export.
const WRITTEN_BY_READS: [&str; 2] = ["activity_logs", "converted_files"];

// With the default interval, the sweep of the document server renews its lease in the table `settings` meanwhile.
with_document_server!(
    reads_change_nothing,
    ["--docserver-reconcile-interval-seconds=3600"],
    |fixture| {
        let (app, world) = (&fixture.app, &fixture.app.world);
        let lesson = LessonFixture::create(app).await;
        let (_, rows) = router::description();
        let is_read = |row: &&api::endpoint::Row| row.method == "GET" && !row.path.starts_with("/auth/");
        let reads: Vec<_> = rows.iter().filter(is_read).collect();
        let before = fingerprints(&app.database).await;
        for person in [&world.ben, &world.ada, &world.adam, &world.root, &world.zoe] {
            for row in reads.iter().filter(|row| !row.path.starts_with("/docs")) {
                let path = lesson.path(app, &row.path);
                let answer = app.as_(person).get(&path).await;
                assert!(answer.status < 500, "{path} as {}: {}", person.name, answer.status);
            }
        }
        let mut after = fingerprints(&app.database).await;
        for table in WRITTEN_BY_READS {
            assert!(after.remove(table).is_some());
        }
        for (table, print) in after {
            assert_eq!(before.get(&table), Some(&print), "a read changed {table}");
        }
    }
);
