//! Deleted objects that can be restored, whatever the setting of the service.

use common::clock;
use db::archives::NewDeletion;
use domain::deleted_object::DeletedNoun;
use domain::id::{ClassId, GroupId};

use super::request_context::ViewedAs;
use super::rows::{execute, texts};
use super::{TestApp, TestUser};

/// Inserts a group of a class and deletes it as its teacher, without log entries and events; returns the id of the
/// deletion.
pub async fn delete_group_of(app: &TestApp, teacher: &TestUser, class: &str) -> String {
    let (id, room) = (clock::new_id(), clock::new_id());
    let school = format!("SELECT organization_id FROM classes WHERE id = '{class}'");
    let school = texts(&app.database, school).await[0].clone().unwrap();
    let group = format!(
        "INSERT INTO groups (organization_id, id, name, name_key, group_number, class_id, created_by_id, created_at,
            updated_at)
            SELECT '{school}', '{id}', 'Deleted', 'deleted', COALESCE(MAX(group_number), 0) + 1, '{class}', '{}', 1, 1
            FROM groups WHERE class_id = '{class}'",
        teacher.id
    );
    execute(&app.database, group).await;
    let room = format!(
        "INSERT INTO work_rooms (organization_id, id, group_id, created_at, updated_at)
            VALUES ('{school}', '{room}', '{id}', 1, 1)"
    );
    execute(&app.database, room).await;
    let now = clock::now();
    let context = app.request_context(&school, &teacher.id, ViewedAs::Teacher, now).await;
    let deletion = NewDeletion {
        noun: DeletedNoun::Group,
        object_id: id.clone(),
        name: "Deleted".to_owned(),
        class_id: ClassId::new(class),
        course_id: None,
        group: Some((GroupId::new(&id), "Deleted".to_owned())),
        expires_at: now.plus_seconds(30 * 86_400),
    };
    let delete = move |tx: &mut db::WriteTx<'_>| {
        let deletion = tx.archive(&deletion)?;
        tx.delete_group(&GroupId::new(&id))?;
        Ok(deletion.to_string())
    };
    app.app.transactor().write(context, delete).await.unwrap()
}
