//! What users change about themselves. Email address, role and password have endpoints of their own.

use api_macros::patch;
use domain::access::Viewer;
use domain::change::UserChange;
use domain::id::UserId;
use domain::patch::{FieldDiff, FieldPatch, not_null, optional_text};
use domain::text::{Locale, Name, TimeZone};
use domain::time::Timestamp;
use domain::user::User;
use domain::version::IfMatch;

use common::error::{Error, Problem, Result};
use db::platform::PlatformWriteTx;
use db::{Actor, RequestContext};

/// The fields of the caller's profile that a PATCH can change.
#[patch]
pub struct ProfileEdit {
    /// The display name.
    #[garde(dive, custom(not_null))]
    pub name: FieldPatch<Name>,
    /// Null or empty removes the picture. Other values are rejected: pictures cannot be uploaded, and an external URL
    /// would reveal to its host who views it.
    #[garde(custom(is_image))]
    pub image: FieldPatch<String>,
    /// The language.
    #[garde(dive, custom(not_null))]
    pub locale: FieldPatch<Locale>,
    /// The time zone.
    #[serde(default, deserialize_with = "optional_text")]
    pub timezone: FieldPatch<TimeZone>,
}

/// Updates the caller's profile, if it has the version in `If-Match`.
pub fn edit(
    tx: &mut PlatformWriteTx<'_>,
    user: &UserId,
    edit: &ProfileEdit,
    condition: Option<&IfMatch>,
    actor: &Actor,
    now: Timestamp,
) -> Result<User> {
    let mut user = tx.lock_profile(user)?;
    let version = tx.version_of_account(&user.id)?;
    if condition.is_some_and(|condition| !condition.is_met_by(version)) {
        return Err(Error::precondition_failed());
    }
    let edit = edit.clone();
    let image = match edit.image {
        FieldPatch::Value(image) if image.trim().is_empty() => FieldPatch::Null,
        image => image,
    };
    let mut changed = FieldDiff::new();
    let null = |error: domain::patch::NullNotAllowed| {
        Error::Invalid(vec![Problem::new(error.field, "required", error.to_string())])
    };
    changed.edit("name", &mut user.name, edit.name).map_err(null)?;
    changed.edit_nullable("image", &mut user.image, image);
    changed.edit("locale", &mut user.locale, edit.locale).map_err(null)?;
    changed.edit_nullable("timezone", &mut user.timezone, edit.timezone);
    if changed.has("name") {
        user.may_change_own_name(&tx.settings_of_student(&user.id)?)?;
    }
    if !changed.is_empty() {
        user.updated_at = now;
        tx.update_profile(&user)?;
        record(tx, &user, &changed, actor, now)?;
    }
    Ok(user)
}

/// Records the change in every organization of the user.
fn record(tx: &mut PlatformWriteTx<'_>, user: &User, changed: &FieldDiff, actor: &Actor, now: Timestamp) -> Result<()> {
    for seen in tx.organizations_of(&user.id)? {
        let context = RequestContext {
            tenant: seen.tenant,
            viewer: Viewer::Admin,
            actor: actor.clone(),
            now,
        };
        tx.write_in_tenant(context, |tx| {
            let seen_in = tx.classes_showing(&user.id, changed)?;
            tx.record(UserChange::ProfileEdited {
                user: user.person(),
                changed: changed.clone(),
                seen_in,
            });
            Ok(())
        })?;
    }
    Ok(())
}

/// Rejects every picture. Pictures are shown to other users, so an external URL would reveal to its host who views it
/// and when. Only uploads could be allowed, and there is no upload for pictures: a picture can only be removed.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "garde passes its context by reference")]
fn is_image(image: &FieldPatch<String>, (): &()) -> garde::Result {
    match image {
        FieldPatch::Value(image) if !image.trim().is_empty() => Err(garde::Error::new(
            "must be null: addresses of pictures elsewhere are not allowed",
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picture_can_only_be_removed() {
        let fits = |text: &str| is_image(&FieldPatch::Value(text.to_owned()), &()).is_ok();
        assert!(fits("") && is_image(&FieldPatch::Null, &()).is_ok() && is_image(&FieldPatch::Unchanged, &()).is_ok());
        for address in [
            "https://tracker.example/ada.png",
            "http://10.0.0.1/x",
            "/files/ada.png",
            "//evil.example/x",
            "javascript:alert(1)",
            "data:image/png;base64,AA",
        ] {
            assert!(!fits(address), "{address}");
        }
    }
}
