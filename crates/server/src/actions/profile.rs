//! What people change about themselves. Address, role and password have doors of their own.

use garde::Validate;
use model::edit::{Changed, Edit, not_null, optional_text};
use model::id::UserId;
use model::text::{Locale, Name, TimeZone};
use model::time::Timestamp;
use model::user::User;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::error::{Error, Problem, Result};
use crate::store::platform::PlatformWork;

/// The longest address of a picture.
const LONGEST_IMAGE: usize = 2048;

/// What a PATCH of the own profile may change.
#[derive(Debug, Clone, Default, Deserialize, Validate, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileEdit {
    /// The name shown to others.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub name: Edit<Name>,
    /// Address of the picture: `https://…`, `http://…`, or a path on this site; null or empty takes it away.
    #[serde(default)]
    #[garde(custom(is_image))]
    pub image: Edit<String>,
    /// Language.
    #[serde(default)]
    #[garde(dive, custom(not_null))]
    pub locale: Edit<Locale>,
    /// Time zone.
    #[serde(default, deserialize_with = "optional_text")]
    #[garde(dive)]
    pub timezone: Edit<TimeZone>,
}

/// Changes the own profile.
pub fn edit(work: &mut PlatformWork<'_>, user: &UserId, edit: &ProfileEdit, now: Timestamp) -> Result<User> {
    let mut user = work.profile_to_change(user)?;
    let edit = edit.clone();
    let image = match edit.image {
        Edit::Set(image) if image.trim().is_empty() => Edit::Clear,
        image => image,
    };
    let mut changed = Changed::new();
    let null = |error: model::edit::NullNotAllowed| {
        Error::Invalid(vec![Problem::new(error.field, "invalid", error.to_string())])
    };
    changed.edit("name", &mut user.name, edit.name).map_err(null)?;
    changed.edit_nullable("image", &mut user.image, image);
    changed.edit("locale", &mut user.locale, edit.locale).map_err(null)?;
    changed.edit_nullable("timezone", &mut user.timezone, edit.timezone);
    if !changed.is_empty() {
        user.updated_at = now;
        work.update_profile(&user)?;
    }
    Ok(user)
}

/// Whether browsers may load a picture from there: no scripts, no addresses on the reader's own machine.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "garde hands its context over like this"
)]
fn is_image(image: &Edit<String>, (): &()) -> garde::Result {
    let Edit::Set(image) = image else { return Ok(()) };
    let image = image.trim();
    let on_this_site = image.starts_with('/') && !image.starts_with("//");
    let fits = image.is_empty()
        || (image.len() <= LONGEST_IMAGE
            && (image.starts_with("https://") || image.starts_with("http://") || on_this_site)
            && !image
                .contains(|character: char| character.is_control() || character.is_whitespace() || character == '\\'));
    if fits {
        Ok(())
    } else {
        Err(garde::Error::new("must be the address of a picture"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_come_from_web_addresses_only() {
        let fits = |text: &str| is_image(&Edit::Set(text.to_owned()), &()).is_ok();
        for address in [
            "",
            "https://school.example/ada.png",
            "http://10.0.0.1/x",
            "/files/ada.png",
        ] {
            assert!(fits(address), "{address}");
        }
        for address in [
            "javascript:alert(1)",
            "data:image/png;base64,AA",
            "//evil.example/x",
            "https://a b",
            "ada.png",
            "/a\\b",
        ] {
            assert!(!fits(address), "{address}");
        }
        assert!(!fits(&format!("https://{}", "x".repeat(LONGEST_IMAGE))));
    }
}
