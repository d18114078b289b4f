//! The users of two schools: Ada teaches 7b and Tom teaches 8a at North; Ben, Cem, Dana and Eli are students of 7b,
//! Finn of 8a; Zoe teaches Zack's class at South. Each class has the subject Biology and a course "Cells". Every user
//! has a session in which their school is active.

use common::clock;
use db::connection::Connection;
use db::platform::CrossTenantReason;
use db::platform::organizations::NewOrganization;
use db::platform::sessions::Session;
use db::platform::users::NewUserAccount;
use db::{Database, Store, Tenant};
use domain::access::{MemberRole, PlatformRole};
use domain::id::{OrganizationId, SessionId, UserId};

use super::app::AUTH_SECRET;

#[derive(Debug, Clone)]
pub struct TestUser {
    pub id: String,
    pub name: String,
    pub email: String,
    pub token: String,
    pub cookie: String,
}

#[derive(Debug, Clone)]
pub struct World {
    pub north: String,
    pub south: String,
    pub olga: TestUser,
    pub adam: TestUser,
    pub ada: TestUser,
    pub tom: TestUser,
    pub ben: TestUser,
    pub cem: TestUser,
    pub dana: TestUser,
    pub eli: TestUser,
    pub finn: TestUser,
    pub zara: TestUser,
    pub zoe: TestUser,
    pub zack: TestUser,
    pub root: TestUser,
    pub nobody: TestUser,
    pub seven_b: TestClass,
    pub eight_a: TestClass,
    pub south_class: TestClass,
}

/// A class with its subject and one course.
#[derive(Debug, Clone)]
pub struct TestClass {
    pub id: String,
    pub subject: String,
    pub course: String,
}

impl World {
    /// Inserts both schools, their users and their classes.
    pub async fn create(store: &Store, database: &Database) -> Self {
        Self::create_named(store, database, None).await
    }

    /// Like `create`, in a shared database: slugs and email addresses are made unique.
    pub async fn create_in_shared(store: &Store, database: &Database) -> Self {
        let id = clock::new_id().replace('-', "");
        Self::create_named(store, database, Some(&id)).await
    }

    async fn create_named(store: &Store, database: &Database, name: Option<&str>) -> Self {
        let mut world = Self::people(store, name).await;
        let database = database.clone();
        tokio::task::spawn_blocking(move || {
            let mut connection = match &database {
                Database::Sqlite(path) => Connection::open_sqlite(path, false).unwrap(),
                Database::Postgres(url) => Connection::open_postgres(url).unwrap(),
            };
            let biology = school::subject(&mut connection, &world.north);
            let learners = [&world.ben, &world.cem, &world.dana, &world.eli].map(|person| person.id.as_str());
            world.seven_b = school::class(&mut connection, &world.north, "7b", &world.ada.id, &biology, &learners);
            world.eight_a = school::class(
                &mut connection,
                &world.north,
                "8a",
                &world.tom.id,
                &biology,
                &[&world.finn.id],
            );
            let biology = school::subject(&mut connection, &world.south);
            world.south_class = school::class(
                &mut connection,
                &world.south,
                "9c",
                &world.zoe.id,
                &biology,
                &[&world.zack.id],
            );
            world
        })
        .await
        .unwrap()
    }

    async fn people(store: &Store, unique: Option<&str>) -> Self {
        let slug = |name: &str| unique.map_or_else(|| name.to_owned(), |unique| format!("{name}-{unique}"));
        let domain = unique.map_or_else(|| "test.example".to_owned(), |unique| format!("{unique}.example"));
        let north = organization(store, "North School", &slug("north")).await;
        let south = organization(store, "South School", &slug("south")).await;
        let at = async |name: &str, role: MemberRole, tenant: &Tenant| {
            let home = Some((tenant.clone(), role));
            person(store, name, &domain, PlatformRole::Student, home).await
        };
        Self {
            olga: at("Olga Owner", MemberRole::Owner, &north).await,
            adam: at("Adam Admin", MemberRole::Admin, &north).await,
            ada: at("Ada Teacher", MemberRole::Teacher, &north).await,
            tom: at("Tom Teacher", MemberRole::Teacher, &north).await,
            ben: at("Ben Student", MemberRole::Student, &north).await,
            cem: at("Cem Student", MemberRole::Student, &north).await,
            dana: at("Dana Student", MemberRole::Student, &north).await,
            eli: at("Eli Student", MemberRole::Student, &north).await,
            finn: at("Finn Student", MemberRole::Student, &north).await,
            zara: at("Zara Owner", MemberRole::Owner, &south).await,
            zoe: at("Zoe Teacher", MemberRole::Teacher, &south).await,
            zack: at("Zack Student", MemberRole::Student, &south).await,
            root: person(store, "Root Admin", &domain, PlatformRole::SuperAdmin, None).await,
            nobody: person(store, "Nora Nobody", &domain, PlatformRole::Teacher, None).await,
            north: north.id().to_string(),
            south: south.id().to_string(),
            seven_b: TestClass::unwritten(),
            eight_a: TestClass::unwritten(),
            south_class: TestClass::unwritten(),
        }
    }
}

impl TestClass {
    fn unwritten() -> Self {
        Self {
            id: String::new(),
            subject: String::new(),
            course: String::new(),
        }
    }
}

/// Classes inserted directly into the tables, so that the tests of each module do not depend on other modules.
mod school {
    use domain::collation::sort_key;

    use super::{Connection, TestClass, clock};

    db::statements! {
        SUBJECT = "INSERT INTO subjects (organization_id, id, name, name_key, search_key, sort_key, created_at, updated_at)
            VALUES ($1, $2, 'Biology', 'biology', 'biology', $3, 1, 1)";
        CLASS = "INSERT INTO classes (organization_id, id, name, name_key, search_key, sort_key, academic_year, teacher_id,
                created_at, updated_at)
            VALUES ($1, $2, $3, $3, $3, $5, '2026/2027', $4, 1, 1)";
        CLASS_SUBJECT = "INSERT INTO class_subjects (organization_id, class_id, subject_id) VALUES ($1, $2, $3)";
        COURSE = "INSERT INTO courses (organization_id, id, name, name_key, search_key, sort_key, class_id, subject_id,
                created_at, updated_at)
            VALUES ($1, $2, 'Cells', 'cells', 'cells', $5, $3, $4, 1, 1)";
        ENROLMENT = "INSERT INTO class_enrollments (organization_id, id, class_id, student_id, enrolled_at)
            VALUES ($1, $2, $3, $4, 1)";
    }

    pub fn subject(connection: &mut Connection, organization: &str) -> String {
        let id = clock::new_id();
        let key = sort_key("Biology");
        connection.execute(&SUBJECT, db::args![organization, id, key]).unwrap();
        id
    }

    pub fn class(
        connection: &mut Connection,
        organization: &str,
        name: &str,
        teacher: &str,
        subject: &str,
        students: &[&str],
    ) -> TestClass {
        let (id, course) = (clock::new_id(), clock::new_id());
        assert_eq!(STATEMENTS.len(), 5);
        connection
            .execute(&CLASS, db::args![organization, id, name, teacher, sort_key(name)])
            .unwrap();
        connection
            .execute(&CLASS_SUBJECT, db::args![organization, id, subject])
            .unwrap();
        connection
            .execute(&COURSE, db::args![organization, course, id, subject, sort_key("Cells")])
            .unwrap();
        for student in students {
            connection
                .execute(&ENROLMENT, db::args![organization, clock::new_id(), id, *student])
                .unwrap();
        }
        TestClass {
            id,
            subject: subject.to_owned(),
            course,
        }
    }
}

async fn organization(store: &Store, name: &str, slug: &str) -> Tenant {
    let id = OrganizationId::new(clock::new_id());
    let new = NewOrganization {
        id,
        name: name.to_owned(),
        slug: slug.to_owned(),
        custom_domain: None,
    };
    let written = store.platform_write(CrossTenantReason::CommandLine, move |platform| {
        platform.insert_organization(&new, clock::now())
    });
    written.await.unwrap()
}

async fn person(
    store: &Store,
    name: &str,
    domain: &str,
    role: PlatformRole,
    home: Option<(Tenant, MemberRole)>,
) -> TestUser {
    let email = format!("{}@{domain}", name.to_lowercase().replace(' ', "."));
    let mut user = NewUserAccount::provisioned(name, &email, role, None);
    user.home = home.as_ref().map(|(tenant, _)| tenant.id().clone());
    let id = user.id.to_string();
    let session = session(&user.id, home.as_ref().map(|(tenant, _)| tenant.id().clone()));
    let token = session.token.clone();
    let write = move |platform: &mut db::platform::PlatformTx<'_>| {
        platform.insert_user(&user, clock::now())?;
        if let Some((tenant, role)) = &home {
            platform.insert_member(tenant, &user.id, *role, clock::now())?;
        }
        platform.insert_session(&session)
    };
    store
        .platform_write(CrossTenantReason::CommandLine, write)
        .await
        .unwrap();
    let cookie = format!(
        "better-auth.session_token={}",
        better_auth::cookie::sign(AUTH_SECRET, &token)
    );
    TestUser {
        id,
        name: name.to_owned(),
        email,
        token,
        cookie,
    }
}

fn session(user: &UserId, organization: Option<OrganizationId>) -> Session {
    let now = clock::now();
    Session {
        id: SessionId::new(clock::new_id()),
        token: better_auth::token::session_token(),
        user_id: user.clone(),
        expires_at: now.plus_seconds(86_400),
        created_at: now,
        updated_at: now,
        ip_address: Some(String::new()),
        user_agent: Some("tests".to_owned()),
        active_organization_id: organization,
        impersonated_by: None,
        new_password_until: None,
        confirmed_at: None,
        sign_on: None,
    }
}
