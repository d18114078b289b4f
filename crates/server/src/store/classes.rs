//! Classes and who belongs to them.

use model::class::{Class, ClassStatus};
use model::id::{ClassId, UserId};

use super::sql::Columns;
use super::{Scope, Work};
use crate::error::Result;
use crate::{args, knows_class, statements};

macro_rules! class_columns {
    () => {
        "k.id, k.organization_id, k.name, k.academic_year, k.semester, k.start_date, k.end_date, k.status,
            k.teacher_id, k.homeroom_id, k.external_id, k.schedule, k.created_at, k.updated_at"
    };
}

statements! {
    /// One class the viewer may know of.
    BY_ID = concat!("SELECT ", class_columns!(), " FROM classes k WHERE k.organization_id = $1 AND ", knows_class!(), " AND k.id = $5");
    /// Takes the row for this unit; inserts that refer to it go on.
    LOCK = "SELECT id FROM classes WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE";
    /// The co-teachers of a class.
    CO_TEACHERS = "SELECT user_id FROM class_teachers WHERE organization_id = $1 AND class_id = $2 ORDER BY created_at, user_id";
    /// Adds a subject to a class; there already is fine.
    ADD_SUBJECT = "INSERT INTO class_subjects (organization_id, class_id, subject_id) VALUES ($1, $2, $3)
        ON CONFLICT (class_id, subject_id, organization_id) DO NOTHING";
}

impl Scope<'_> {
    /// One class, if the viewer may know of it.
    pub fn class(&mut self, id: &ClassId) -> Result<Class> {
        self.one_visible(&BY_ID, args![id], class)
    }

    /// The co-teachers of a class.
    pub fn co_teachers(&mut self, id: &ClassId) -> Result<Vec<UserId>> {
        self.many(&CO_TEACHERS, args![id], |row| row.take())
    }

    /// One class, if the viewer manages it: 404 when he may not know of it, `NOT_CLASS_TEACHER` when it is a colleague's.
    pub fn managed_class(&mut self, id: &ClassId) -> Result<Class> {
        let class = self.class(id)?;
        let co_teachers = self.co_teachers(id)?;
        class.require_managed_by(self.viewer(), &co_teachers)?;
        Ok(class)
    }
}

impl Work<'_> {
    /// One class the viewer manages, held until this unit ends: whoever changes what is in a class comes through here,
    /// so that numbers, memberships and topics of one class change one after another.
    pub fn class_to_manage(&mut self, id: &ClassId) -> Result<Class> {
        self.maybe(&LOCK, args![id], |row| row.take::<ClassId>())?;
        self.managed_class(id)
    }

    /// Holds a class until this unit ends, whoever acts: what students and the document server change in a class waits
    /// for what its teachers change, always the class first.
    pub fn hold_class(&mut self, id: &ClassId) -> Result<()> {
        self.one(&LOCK, args![id], |row| row.take::<ClassId>()).map(drop)
    }

    /// The same, and the class is not archived.
    pub fn class_to_write(&mut self, id: &ClassId) -> Result<Class> {
        let class = self.class_to_manage(id)?;
        class.writable()?;
        Ok(class)
    }

    /// Adds a subject to a class that does not list it yet.
    pub fn add_class_subject(&mut self, class: &ClassId, subject: &model::id::SubjectId) -> Result<()> {
        self.run(&ADD_SUBJECT, args![class, subject]).map(drop)
    }
}

fn class(row: &mut Columns<'_>) -> Result<Class> {
    Ok(Class {
        id: row.take()?,
        organization_id: row.take()?,
        name: row.take()?,
        academic_year: row.take()?,
        semester: row.take()?,
        start_date: row.take()?,
        end_date: row.take()?,
        status: row.parse(ClassStatus::parse)?,
        teacher_id: row.take()?,
        homeroom_id: row.take()?,
        external_id: row.take()?,
        schedule: row.json_option()?,
        created_at: row.take()?,
        updated_at: row.take()?,
    })
}
