#![expect(clippy::unwrap_used, reason = "tests may panic")]
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt as _;

use self::bucket::FakeS3 as Bucket;
use super::settings::ObjectStoreArgs;
use super::*;

#[expect(dead_code, reason = "the tests of the service use all of it")]
#[path = "../../../test-support/src/fake_s3.rs"]
mod bucket;
mod s3;

async fn in_bucket(folder: &Path, bucket: &Bucket) -> BlobStore {
    let args = ObjectStoreArgs {
        aws_access_key_id: Some(bucket::KEY_ID.to_owned()),
        aws_secret_access_key: Some(bucket::SECRET.into()),
        aws_region: Some("eu-central-1".to_owned()),
        aws_endpoint_url: Some(bucket.endpoint.clone()),
        aws_allow_http: true,
        ..ObjectStoreArgs::default()
    };
    let url = format!("s3://{}/work", bucket::NAME);
    BlobStore::connect(folder, Some(&url), &args).await.unwrap()
}

async fn both(folder: &Path) -> [BlobStore; 2] {
    let disk = BlobStore::connect(folder, None, &ObjectStoreArgs::default())
        .await
        .unwrap();
    let memory = BlobStore::connect(folder, Some("memory:"), &ObjectStoreArgs::default())
        .await
        .unwrap();
    [disk, memory]
}

/// Returns every storage backend: all must behave the same.
async fn all(folder: &Path, bucket: &Bucket) -> [BlobStore; 3] {
    let [disk, memory] = both(folder).await;
    [disk, memory, in_bucket(folder, bucket).await]
}

async fn staged(files: &BlobStore, bytes: &[u8]) -> Staged {
    let mut staging = files.stage(10 << 20);
    for chunk in bytes.chunks(1000) {
        staging.write(chunk).await.unwrap();
    }
    staging.finish().await.unwrap()
}

async fn content(files: &BlobStore, key: &FileKey, range: Range<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    files
        .open(key)
        .await
        .unwrap()
        .read(range)
        .await
        .unwrap()
        .read_to_end(&mut bytes)
        .await
        .unwrap();
    bytes
}

/// Waits until the health check succeeds. On a busy machine a check may take longer than its timeout.
async fn wait_until_writable(files: &BlobStore) {
    let since = Instant::now();
    while !files.is_writable().await {
        assert!(since.elapsed() < Duration::from_mins(2), "the storage is not writable");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Returns every file below a folder.
fn files_below(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else {
            found.insert(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    found
}

#[tokio::test]
async fn committed_file_is_read_entirely_and_in_ranges() {
    let folder = tempfile::tempdir().unwrap();
    let bucket = Bucket::open().await;
    let bytes: Vec<u8> = (0..700_000_u32).map(|number| (number % 251) as u8).collect();
    for files in all(folder.path(), &bucket).await {
        let key = FileKey::new("a-1.docx");
        let staged = staged(&files, &bytes).await;
        assert_eq!((staged.size(), staged.peek(3)), (700_000, &bytes[..3]));
        assert_eq!(staged.sha256().len(), 64);
        files.commit(staged, &key).await.unwrap();
        assert_eq!(files.open(&key).await.unwrap().size(), 700_000);
        assert_eq!(content(&files, &key, 0..u64::MAX).await, bytes);
        assert_eq!(content(&files, &key, 5..9).await, &bytes[5..9]);
        assert_eq!(content(&files, &key, 699_999..800_000).await, &bytes[699_999..]);

        let copy = FileKey::new("b-1.docx");
        files.copy(&key, &copy).await.unwrap();
        files.remove(&key).await.unwrap();
        files.remove(&key).await.unwrap();
        assert!(files.open(&key).await.is_err());
        assert_eq!(content(&files, &copy, 0..10).await, &bytes[..10]);
        wait_until_writable(&files).await;
    }
    assert_eq!(files_below(folder.path()), BTreeSet::from(["b-1.docx".to_owned()]));
    assert_eq!(bucket.stored_keys(), BTreeSet::from(["b-1.docx".to_owned()]));
}

#[tokio::test]
async fn dropped_or_too_large_upload_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let bucket = Bucket::open().await;
    for files in all(folder.path(), &bucket).await {
        drop(staged(&files, b"given up").await);
        let mut staging = files.stage(10);
        staging.write(b"0123456789").await.unwrap();
        let refused = staging.write(b"!").await;
        assert!(
            matches!(refused, Err(Error::TooLarge { limit_bytes: 10 })),
            "{refused:?}"
        );
    }
    assert_eq!(files_below(folder.path()), BTreeSet::new());
    assert_eq!(bucket.stored_keys(), BTreeSet::new());
}

#[tokio::test]
async fn key_that_is_a_path_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let bucket = Bucket::open().await;
    for files in all(folder.path(), &bucket).await {
        for key in ["../x", "a/b", "", ".x", "A", "a b", "ü"] {
            let staged = staged(&files, b"x").await;
            assert!(files.commit(staged, &FileKey::new(key)).await.is_err(), "{key}");
        }
    }
    assert_eq!(files_below(folder.path()), BTreeSet::new());
    assert_eq!(bucket.stored_keys(), BTreeSet::new());
}

#[tokio::test]
async fn start_removes_only_old_partial_files() {
    let folder = tempfile::tempdir().unwrap();
    let [disk, _] = both(folder.path()).await;
    let kept = FileKey::new("kept.pdf");
    disk.commit(staged(&disk, b"kept").await, &kept).await.unwrap();
    let parts = folder.path().join("files/parts");
    for name in ["old.part", "new.part", "old.txt"] {
        let file = std::fs::File::create(parts.join(name)).unwrap();
        if name.starts_with("old") {
            let millis = u64::try_from(common::clock::now().as_millis()).unwrap() - 7_200_000;
            file.set_modified(std::time::UNIX_EPOCH + Duration::from_millis(millis))
                .unwrap();
        }
    }
    both(folder.path()).await;
    let left: Vec<_> = files_below(folder.path()).into_iter().collect();
    assert_eq!(left, ["kept.pdf", "new.part", "old.txt"]);
}

#[tokio::test]
async fn old_orphan_file_is_quarantined() {
    let folder = tempfile::tempdir().unwrap();
    let bucket = Bucket::open().await;
    let [disk, _, objects] = all(folder.path(), &bucket).await;
    for files in [disk, objects] {
        let key = FileKey::new("nobody-names-it.pdf");
        files.commit(staged(&files, b"x").await, &key).await.unwrap();
        let (mut aged, mut young) = (Vec::new(), Vec::new());
        for shard in SHARDS {
            aged.extend(
                files
                    .list_older_than(shard, common::clock::now().plus_seconds(60))
                    .await
                    .unwrap(),
            );
            young.extend(
                files
                    .list_older_than(shard, common::clock::now().plus_seconds(-60))
                    .await
                    .unwrap(),
            );
        }
        assert_eq!((aged, young), (vec![key.clone()], Vec::new()));
        files.quarantine(&key).await.unwrap();
        files.quarantine(&key).await.unwrap();
        assert!(files.open(&key).await.is_err());
    }
    assert!(folder.path().join("files/quarantine/nobody-names-it.pdf").is_file());
    assert!(bucket.folder("quarantine/nobody-names-it.pdf").is_file());
}
