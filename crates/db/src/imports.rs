//! Look-ups for imports: members, classes and homerooms by external id (the id in the school's administration) or by
//! name. Imports write through the functions for people, homerooms and classes.

use domain::access::MemberRole;
use domain::class::ClassStatus;
use domain::id::{ClassId, HomeroomId, UserId};
use domain::text::name_key;
use unicode_normalization::UnicodeNormalization;

use super::{ReadTx, WriteTx};
use crate::{args, from_row, statements};
use common::clock;
use common::error::Result;

statements! {
    MEMBER_OF_EXTERNAL_ID = "SELECT m.user_id, m.role, u.is_active AND m.is_active AS is_active FROM members m
        JOIN users u ON u.id = m.user_id
        WHERE m.organization_id = $1 AND m.external_id = $2";
    CLASS_OF_EXTERNAL_ID = "SELECT id FROM classes WHERE organization_id = $1 AND external_id = $2";
    HOMEROOM_OF_EXTERNAL_ID = "SELECT id FROM homerooms WHERE organization_id = $1 AND external_id = $2";
    /// The homeroom with an id; otherwise that with a name, in the newest year.
    HOMEROOM_NAMED = "SELECT id FROM homerooms WHERE organization_id = $1 AND (id = $2 OR name_key IN ($3, $4))
        ORDER BY CASE WHEN id = $2 THEN 0 ELSE 1 END, COALESCE(academic_year, '') DESC, created_at DESC, id LIMIT 1";
    HOMEROOM_OF_YEAR = "SELECT id FROM homerooms WHERE organization_id = $1 AND name = $2 AND academic_year = $3";
    /// Sets the external id of a homeroom that has none.
    CLAIM_HOMEROOM = "UPDATE homerooms SET external_id = $3, updated_at = $4
        WHERE organization_id = $1 AND id = $2 AND external_id IS NULL";
    IN_HOMEROOM = "SELECT EXISTS (SELECT 1 FROM homeroom_enrollments
        WHERE organization_id = $1 AND homeroom_id = $2 AND student_id = $3)";
    /// The class with an id, or the unarchived classes with a name. Two rows suffice to detect an ambiguous name.
    CLASSES_NAMED = "SELECT id, status FROM classes
        WHERE organization_id = $1 AND (id = $2 OR (name_key IN ($3, $4) AND status <> 'ARCHIVED'))
        ORDER BY CASE WHEN id = $2 THEN 0 ELSE 1 END, id LIMIT 2";
    IN_CLASS = "SELECT EXISTS (SELECT 1 FROM class_enrollments
        WHERE organization_id = $1 AND class_id = $2 AND student_id = $3)";
    TEACHES_ALONG = "SELECT EXISTS (SELECT 1 FROM class_teachers
        WHERE organization_id = $1 AND class_id = $2 AND user_id = $3)";
    /// Whether a user learns or teaches in any class or homeroom.
    HAS_PLACE = "SELECT EXISTS (SELECT 1 FROM class_enrollments WHERE organization_id = $1 AND student_id = $2)
            OR EXISTS (SELECT 1 FROM homeroom_enrollments WHERE organization_id = $1 AND student_id = $2)
            OR EXISTS (SELECT 1 FROM class_teachers WHERE organization_id = $1 AND user_id = $2)
            OR EXISTS (SELECT 1 FROM classes WHERE organization_id = $1 AND teacher_id = $2)
            OR EXISTS (SELECT 1 FROM homerooms WHERE organization_id = $1 AND teacher_id = $2)";
    /// Sets a first password for a member who never had one; an existing password is kept.
    FIRST_PASSWORD = "INSERT INTO accounts (id, user_id, provider_id, account_id, password, created_at, updated_at)
        SELECT CAST($2 AS TEXT), m.user_id, 'credential', m.user_id, CAST($4 AS TEXT), CAST($5 AS BIGINT),
            CAST($5 AS BIGINT)
        FROM members m WHERE m.organization_id = $1 AND m.user_id = $3
            AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.user_id = m.user_id)
        ON CONFLICT (provider_id, account_id) DO NOTHING";
    /// The password was not chosen by the member, so it is valid for this organization only.
    CONFINE_PASSWORD = "UPDATE users SET password_organization_id = $1
        WHERE id = (SELECT m.user_id FROM members m WHERE m.organization_id = $1 AND m.user_id = $2)";
}

/// A member that other rows of an import refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedMember {
    pub user: UserId,
    /// The role in this organization.
    pub role: MemberRole,
    /// Whether the account and the membership are active.
    pub is_active: bool,
}

/// The result of a look-up of a class by name or id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedClass {
    Unknown,
    Several,
    One(ClassId, ClassStatus),
}

impl ReadTx<'_> {
    /// Returns the member with an external id.
    pub fn member_of_external_id(&mut self, external_id: &str) -> Result<Option<NamedMember>> {
        self.fetch_optional(
            &MEMBER_OF_EXTERNAL_ID,
            args![external_id],
            |row| from_row!(row => NamedMember { user = "user_id", role, is_active }),
        )
    }

    /// Returns the class with an external id.
    pub fn class_of_external_id(&mut self, external_id: &str) -> Result<Option<ClassId>> {
        self.fetch_optional(&CLASS_OF_EXTERNAL_ID, args![external_id], |row| row.get("id"))
    }

    /// Returns the homeroom with an external id.
    pub fn homeroom_of_external_id(&mut self, external_id: &str) -> Result<Option<HomeroomId>> {
        self.fetch_optional(&HOMEROOM_OF_EXTERNAL_ID, args![external_id], |row| row.get("id"))
    }

    /// Returns the homeroom with an id or a name; of several with the same name that of the newest year.
    pub fn homeroom_named(&mut self, text: &str) -> Result<Option<HomeroomId>> {
        let [composed, decomposed] = spellings(text);
        self.fetch_optional(&HOMEROOM_NAMED, args![text, composed, decomposed], |row| row.get("id"))
    }

    /// Returns the homeroom with a name in a year.
    pub fn homeroom_of_year(&mut self, name: &str, year: &str) -> Result<Option<HomeroomId>> {
        self.fetch_optional(&HOMEROOM_OF_YEAR, args![name, year], |row| row.get("id"))
    }

    /// Returns whether a student is in a homeroom.
    pub fn is_in_homeroom(&mut self, homeroom: &HomeroomId, student: &UserId) -> Result<bool> {
        self.fetch_one(&IN_HOMEROOM, args![homeroom, student], |row| row.only())
    }

    /// Returns the class with an id or a name. The id takes precedence; archived classes are not found by name.
    pub fn class_named(&mut self, text: &str) -> Result<NamedClass> {
        let read = |row: &super::sql::Columns<'_>| Ok((row.get::<ClassId>("id")?, row.get::<ClassStatus>("status")?));
        let [composed, decomposed] = spellings(text);
        let mut found = self
            .fetch_all(&CLASSES_NAMED, args![text, composed, decomposed], read)?
            .into_iter();
        Ok(match (found.next(), found.next()) {
            (None, _) => NamedClass::Unknown,
            (Some((id, _)), Some(_)) if id.as_str() != text => NamedClass::Several,
            (Some((id, status)), _) => NamedClass::One(id, status),
        })
    }

    /// Returns whether a student is enrolled in a class.
    pub fn is_in_class(&mut self, class: &ClassId, student: &UserId) -> Result<bool> {
        self.fetch_one(&IN_CLASS, args![class, student], |row| row.only())
    }

    /// Returns whether a user is a co-teacher of a class.
    pub fn is_co_teacher(&mut self, class: &ClassId, teacher: &UserId) -> Result<bool> {
        self.fetch_one(&TEACHES_ALONG, args![class, teacher], |row| row.only())
    }

    /// Returns whether a user learns or teaches in any class or homeroom of the organization.
    pub fn has_place(&mut self, user: &UserId) -> Result<bool> {
        self.fetch_one(&HAS_PLACE, args![user], |row| row.only())
    }
}

impl WriteTx<'_> {
    /// Sets the external id of a homeroom; returns whether it had none.
    pub fn claim_homeroom(&mut self, homeroom: &HomeroomId, external_id: &str) -> Result<bool> {
        let now = self.now();
        Ok(self.execute_counted(&CLAIM_HOMEROOM, args![homeroom, external_id, now])? > 0)
    }

    /// Sets the first password of a member; returns whether they had none.
    pub fn write_first_password(&mut self, user: &UserId, hash: &str) -> Result<bool> {
        let now = self.now();
        let is_new = self.execute_counted(&FIRST_PASSWORD, args![clock::new_id(), user, hash, now])? > 0;
        if is_new {
            self.execute(&CONFINE_PASSWORD, args![user])?;
        }
        Ok(is_new)
    }
}

/// Returns the possible stored forms of a name: names stored before input was normalized can be in NFD.
fn spellings(text: &str) -> [String; 2] {
    let key = name_key(text);
    [key.nfc().collect(), key.nfd().collect()]
}
