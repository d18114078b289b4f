//! Idempotency keys of an organization. A key is claimed before a resource is created and completed with the response
//! in the same transaction.

use domain::idempotency::{KeyedRequest, MAX_BYTES, MAX_KEYS, RETENTION_SECONDS, StoredResponse};

use super::WriteTx;
use crate::{args, statements};
use common::clock;
use common::error::{Error, Result};

statements! {
    /// Deletes a key that has expired.
    FORGET = "DELETE FROM idempotency_keys
        WHERE organization_id = $1 AND user_id = $2 AND route = $3 AND key_digest = $4 AND created_at <= $5";
    /// Claims a key. Waits for a concurrent transaction that claims the same key.
    CLAIM = "INSERT INTO idempotency_keys (organization_id, id, user_id, route, key_digest, request_digest, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (organization_id, user_id, route, key_digest) DO NOTHING";
    /// The first request with a key, and its response.
    FIND = "SELECT request_digest, status, location, etag, answer FROM idempotency_keys
        WHERE organization_id = $1 AND user_id = $2 AND route = $3 AND key_digest = $4";
    /// Stores the response.
    COMPLETE = "UPDATE idempotency_keys SET status = $6, location = $7, etag = $8, answer = $9, size = $10
        WHERE organization_id = $1 AND user_id = $2 AND route = $3 AND key_digest = $4 AND request_digest = $5";
    /// Deletes the oldest keys of a user beyond the maximum number of keys and of bytes.
    BOUND = "DELETE FROM idempotency_keys WHERE organization_id = $1 AND user_id = $2 AND id IN (
        SELECT k.id FROM (
            SELECT id, ROW_NUMBER() OVER (ORDER BY created_at DESC, id DESC) AS place,
                CAST(SUM(size) OVER (ORDER BY created_at DESC, id DESC) AS BIGINT) AS total
            FROM idempotency_keys WHERE organization_id = $1 AND user_id = $2) k
        WHERE k.place > $3 OR (k.total > $4 AND k.place > 1))";
}

impl WriteTx<'_> {
    /// Claims the key of a request. If there was an earlier request with this key, returns its response, and nothing
    /// must be created. A different request with the same key is [`Error::IdempotencyKeyReused`].
    pub fn claim_key(&mut self, request: &KeyedRequest) -> Result<Option<StoredResponse>> {
        let (now, id) = (self.now(), clock::new_id());
        let KeyedRequest {
            user,
            route,
            key_digest,
            request_digest,
        } = request;
        self.execute(
            &FORGET,
            args![user, route, key_digest, now.plus_seconds(-RETENTION_SECONDS)],
        )?;
        if self.execute_counted(&CLAIM, args![id, user, route, key_digest, request_digest, now])? > 0 {
            return Ok(None);
        }
        let found = self.fetch_one(&FIND, args![user, route, key_digest], |row| {
            let digest: String = row.get("request_digest")?;
            let status: Option<i64> = row.get("status")?;
            let (location, etag, body) = (
                row.get("location")?,
                row.get("etag")?,
                row.get::<Option<String>>("answer")?,
            );
            let answer = status.zip(body).map(|(status, body)| StoredResponse {
                status: u16::try_from(status).unwrap_or(200),
                location,
                etag,
                body,
            });
            Ok((digest, answer))
        });
        match found? {
            (digest, _) if digest != *request_digest => Err(Error::IdempotencyKeyReused),
            // A claim is committed together with its response or not at all.
            (_, answer) => Ok(Some(answer.ok_or(Error::Overloaded)?)),
        }
    }

    /// Stores the response to a request whose key was claimed in this transaction.
    pub fn complete_key(&mut self, request: &KeyedRequest, answer: &StoredResponse) -> Result<()> {
        let size = i64::try_from(answer.body.len()).unwrap_or(i64::MAX);
        let KeyedRequest {
            user,
            route,
            key_digest,
            request_digest,
        } = request;
        let status = i64::from(answer.status);
        let arguments = args![
            user,
            route,
            key_digest,
            request_digest,
            status,
            answer.location,
            answer.etag,
            answer.body,
            size
        ];
        self.execute(&COMPLETE, arguments)?;
        self.execute(&BOUND, args![user, MAX_KEYS, MAX_BYTES])?;
        Ok(())
    }
}
