//! What administrators do with their own organization: change its settings, end sessions.

use model::change::organization::OrganizationChange;
use model::change::session::SessionChange;
use model::id::SessionId;
use model::organization::{Organization, SettingsEdit};

use common::error::Result;
use db::Work;

/// Changes name, logo and settings.
pub fn edit_settings(work: &mut Work<'_>, edit: &SettingsEdit) -> Result<Organization> {
    let mut school = work.school_to_change()?;
    let changed = school.edit(edit.clone().into(), work.now())?;
    if !changed.is_empty() {
        work.update_school(&school)?;
        work.record(OrganizationChange::Updated {
            organization: Box::new(school.clone()),
            changed,
        });
    }
    Ok(school)
}

/// Ends a session of the caller or of a user of lower rank, and closes its sockets.
pub fn revoke_session(work: &mut Work<'_>, id: &SessionId) -> Result<()> {
    let found = work.school_session(id)?;
    if work.actor().user.as_ref() != Some(&found.person.id) {
        work.rank()?.may_act_on(found.platform_role, found.member_role)?;
    }
    if work.end_school_session(id)? {
        work.record(SessionChange::RevokedByAdmin {
            user: found.person,
            session: id.clone(),
        });
    }
    Ok(())
}
