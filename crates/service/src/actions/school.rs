//! What administrators do with their own organization: change its settings, end sessions.

use domain::change::{OrganizationChange, SessionChange};
use domain::id::SessionId;
use domain::organization::{Organization, SettingsEdit};

use common::error::Result;
use db::WriteTx;

/// Changes name, logo and settings.
pub fn edit_settings(tx: &mut WriteTx<'_>, edit: &SettingsEdit) -> Result<Organization> {
    let mut school = tx.lock_current_organization()?;
    let changed = school.edit(edit.clone().into(), tx.now())?;
    if !changed.is_empty() {
        tx.update_current_organization(&school)?;
        tx.record(OrganizationChange::Updated {
            organization: Box::new(school.clone()),
            changed,
        });
    }
    Ok(school)
}

/// Ends a session of the caller or of a user of lower rank, and closes its sockets.
pub fn revoke_session(tx: &mut WriteTx<'_>, id: &SessionId) -> Result<()> {
    let found = tx.organization_session(id)?;
    if tx.actor().user.as_ref() != Some(&found.person.id) {
        tx.role_level()?.may_act_on(found.platform_role, found.member_role)?;
    }
    if tx.end_organization_session(id)? {
        tx.record(SessionChange::RevokedByAdmin {
            user: found.person,
            session: id.clone(),
        });
    }
    Ok(())
}
