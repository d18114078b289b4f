//! Failures that only an object store has: latency, partial uploads, retried requests.

use super::*;

/// Returns bytes of more than two parts, and not a multiple of the part size.
fn large() -> Vec<u8> {
    (0..11_000_003_u32).map(|number| (number % 253) as u8).collect()
}

async fn stage_all(files: &BlobStore, bytes: &[u8]) -> Staged {
    let mut staging = files.stage(64 << 20);
    for chunk in bytes.chunks(100_000) {
        staging.write(chunk).await.unwrap();
    }
    staging.finish().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn multipart_upload_is_read_back_entirely() {
    let (folder, bucket) = (tempfile::tempdir().unwrap(), Bucket::open().await);
    let files = in_bucket(folder.path(), &bucket).await;
    let (bytes, key) = (large(), FileKey::new("large.pdf"));
    files.commit(stage_all(&files, &bytes).await, &key).await.unwrap();
    assert_eq!(files.open(&key).await.unwrap().size(), bytes.len() as u64);
    assert!(content(&files, &key, 0..u64::MAX).await == bytes);
    assert_eq!(
        content(&files, &key, 5_242_870..5_242_890).await,
        &bytes[5_242_870..5_242_890]
    );
    assert!(!bucket.has_unfinished());
    assert_eq!(files_below(folder.path()), BTreeSet::new());
}

#[tokio::test]
async fn existing_object_is_never_overwritten() {
    let (folder, bucket) = (tempfile::tempdir().unwrap(), Bucket::open().await);
    let files = in_bucket(folder.path(), &bucket).await;
    for (name, first) in [("small.pdf", b"first".to_vec()), ("large.pdf", large())] {
        let key = FileKey::new(name);
        files.commit(stage_all(&files, &first).await, &key).await.unwrap();
        // The response to the first attempt may have been lost.
        files.commit(stage_all(&files, &first).await, &key).await.unwrap();
        let mut second = first.clone();
        second[0] ^= 1;
        assert!(files.commit(stage_all(&files, &second).await, &key).await.is_err());
        assert!(content(&files, &key, 0..u64::MAX).await == first, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_or_abandoned_multipart_upload_is_removed() {
    let (folder, bucket) = (tempfile::tempdir().unwrap(), Bucket::open().await);
    let files = in_bucket(folder.path(), &bucket).await;
    let key = FileKey::new("large.pdf");
    // One part is uploaded; the second fails, and the abort is a DELETE, which succeeds.
    bucket.break_after(2);
    let refused = files.commit(stage_all(&files, &large()).await, &key).await;
    assert!(matches!(refused, Err(Error::NotReady)), "{refused:?}");
    bucket.clear_faults();
    assert!(!bucket.has_unfinished());
    assert_eq!(files_below(folder.path()), BTreeSet::new());
    assert!(files.open(&key).await.is_err());

    // Simulates a crash: the future is dropped while it waits for the second part.
    let staged = stage_all(&files, &large()).await;
    bucket.hold_after(2);
    let sending = tokio::spawn({
        let (files, key) = (files.clone(), key.clone());
        async move { files.commit(staged, &key).await }
    });
    while bucket.held_requests() == 0 {
        assert!(!sending.is_finished());
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    assert!(!files_below(&folder.path().join("staging/uploads")).is_empty());
    sending.abort();
    assert!(sending.await.is_err());
    bucket.clear_faults();
    let notes = folder.path().join("staging/uploads");
    for note in files_below(&notes) {
        let millis = u64::try_from(common::clock::now().as_millis()).unwrap() - 7_200_000;
        let file = std::fs::File::options().append(true).open(notes.join(note)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_millis(millis))
            .unwrap();
    }
    assert!(bucket.has_unfinished());
    files.remove_abandoned().await.unwrap();
    assert!(!bucket.has_unfinished());
    assert_eq!(files_below(&notes), BTreeSet::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unavailable_store_is_not_ready_and_stores_nothing() {
    let (folder, bucket) = (tempfile::tempdir().unwrap(), Bucket::open().await);
    let files = in_bucket(folder.path(), &bucket).await;
    let key = FileKey::new("kept.pdf");
    files.commit(staged(&files, b"kept").await, &key).await.unwrap();
    bucket
        .faults
        .closes_connections
        .store(true, std::sync::atomic::Ordering::SeqCst);
    let other = FileKey::new("other.pdf");
    let away = [
        files.commit(staged(&files, b"other").await, &other).await,
        files.open(&key).await.map(drop),
        files.copy(&key, &other).await,
        files.remove(&key).await,
        files.quarantine(&key).await,
        files.list_older_than(7, common::clock::now()).await.map(drop),
    ];
    for answer in away {
        assert!(matches!(answer, Err(Error::NotReady)), "{answer:?}");
    }
    assert!(!files.is_writable().await);
    bucket.clear_faults();
    wait_until_writable(&files).await;
    assert_eq!(bucket.stored_keys(), BTreeSet::from(["kept.pdf".to_owned()]));
}
