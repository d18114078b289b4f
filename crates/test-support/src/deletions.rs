//! Deleted objects that can be restored, whatever the setting of the service.

use common::clock;
use db::archives::NewDeletion;
use domain::deleted_object::DeletedNoun;
use domain::id::{ClassId, GroupId};
use serde_json::json;

use super::request_context::ViewedAs;
use super::rows::texts;
use super::{TestApp, TestUser};

/// Creates a group of a class as its teacher and deletes it; returns the id of the deletion.
pub async fn delete_group_of(app: &TestApp, teacher: &TestUser, class: &str) -> String {
    let new = json!({"classId": class, "name": "Deleted"});
    let group = app.as_(teacher).post("/groups", new).await.expect(201);
    let id = group["id"].as_str().unwrap().to_owned();
    let school = format!("SELECT organization_id FROM classes WHERE id = '{class}'");
    let school = texts(&app.database, school).await[0].clone().unwrap();
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
