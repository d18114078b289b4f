//! The only reader of the system clock and the only maker of ids and lots. Rules take all of them as parameters.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the one file that may read the clock and make ids"
)]

use model::time::Timestamp;

/// The present moment, to the millisecond.
pub fn now() -> Timestamp {
    let since_epoch = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("the clock stands after 1970");
    Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).expect("fits for 292 million years"))
}

/// The text of a new id: `UUIDv7`, lower-case, in the order of creation. `CourseId::new(clock::new_id())`.
pub fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// What stands before all ids of a moment and after all that are older.
pub fn before_ids_of(moment: Timestamp) -> String {
    let millis = format!("{:012x}", moment.as_millis().max(0));
    let (first, second) = millis.split_at(8);
    format!("{first}-{second}")
}

/// A number nobody chose, for those who do not bring one of their own.
pub fn lot() -> u32 {
    rand::random()
}
