//! The only module that reads the system clock and generates ids and random seeds. Rules take them as parameters.
#![expect(
    clippy::disallowed_methods,
    reason = "the only file that may read the clock and generate ids"
)]

use domain::time::Timestamp;

/// The current time in milliseconds.
pub fn now() -> Timestamp {
    let since_epoch = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("the system clock is later than 1970");
    Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).expect("fits for 292 million years"))
}

/// Generates a `UUIDv7` in lower case, ordered by creation time: `CourseId::new(clock::new_id())`.
pub fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// A lower bound for the ids of this moment: it sorts before them and after all older ids.
pub fn min_id_at(moment: Timestamp) -> String {
    let millis = format!("{:012x}", moment.as_millis().max(0));
    let (first, second) = millis.split_at(8);
    format!("{first}-{second}")
}

/// Generates a random seed for requests that do not send one.
pub fn random_seed() -> u32 {
    rand::random()
}
