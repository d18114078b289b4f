//! The people of the demo: one school with an admin, two teachers and 24 students, and one teacher of another school, so
//! that one can see that schools do not see each other.

use model::access::{MemberRole, PlatformRole};
use model::id::{OrganizationId, UserId};

use crate::clock;
use crate::error::Result;
use crate::store::platform::organizations::NewOrganization;
use crate::store::platform::users::NewUser;
use crate::store::platform::{Platform, PlatformProof};
use crate::store::{Store, Tenant};

/// The password of everybody in the demo.
pub const PASSWORD: &str = "groupwork-demo";

const STUDENTS: [&str; 24] = [
    "Ana Lima",
    "Ben Okoye",
    "Cleo Martin",
    "Dario Rossi",
    "Ella Novak",
    "Finn Jansen",
    "Greta Lind",
    "Hugo Weber",
    "Ines Costa",
    "Jonas Berg",
    "Kira Petrova",
    "Leo Dubois",
    "Mira Haddad",
    "Nils Larsen",
    "Olivia Stone",
    "Pablo Ruiz",
    "Quinn Byrne",
    "Rosa Klein",
    "Sami Aydin",
    "Tara Singh",
    "Uma Patel",
    "Viktor Toth",
    "Wanda Nowak",
    "Yuki Tanaka",
];

/// Somebody of the demo.
#[derive(Debug, Clone)]
pub struct Person {
    /// The account.
    pub id: UserId,
    /// The address to sign in with.
    pub email: String,
}

/// The people of the demo.
pub struct School {
    /// Whether they were made just now.
    pub is_new: bool,
    /// The school.
    pub organization: OrganizationId,
    /// Its administrator.
    pub admin: Person,
    /// The teacher of class 7b.
    pub ada: Person,
    /// The teacher of class 8a.
    pub tom: Person,
    /// The students, twelve of each class.
    pub students: Vec<Person>,
    /// A teacher of another school.
    pub stranger: Person,
}

impl School {
    /// Finds the people of an earlier run, or makes them.
    pub async fn find_or_create(store: &Store) -> anyhow::Result<Self> {
        // One hash for all: they share the password, and hashing it 28 times would only make the start slow.
        let hash = tokio::task::spawn_blocking(|| better_auth::password::hash(PASSWORD)).await?;
        let school = store
            .platform_write(PlatformProof::command_line(), move |platform| create(platform, &hash))
            .await
            .map_err(anyhow::Error::new)?;
        Ok(school)
    }

    /// Who may sign in, for printing.
    pub fn sign_ins(&self) -> Vec<(String, &str)> {
        let mut lines = vec![
            ("administrator".to_owned(), self.admin.email.as_str()),
            ("teacher of 7b (running lesson)".to_owned(), self.ada.email.as_str()),
            ("teacher of 8a".to_owned(), self.tom.email.as_str()),
        ];
        let students = self.students.iter().zip(STUDENTS).enumerate();
        let few = students.filter(|(index, _)| [0, 1, 2, 12].contains(index));
        lines.extend(few.map(|(index, (person, name))| {
            let class = if index < 12 { "7b" } else { "8a" };
            (format!("student of {class}: {name}"), person.email.as_str())
        }));
        lines.push(("teacher of another school".to_owned(), self.stranger.email.as_str()));
        lines
    }
}

fn create(platform: &mut Platform<'_>, hash: &str) -> Result<School> {
    let existing = platform.organization_with_slug("demo")?;
    let is_new = existing.is_none();
    let demo = existing.map_or_else(|| organization(platform, "Demo School", "demo"), Ok)?;
    let other = platform.organization_with_slug("other");
    let other = other?.map_or_else(|| organization(platform, "Other School", "other"), Ok)?;
    let mut join = |name: &str, domain: &str, tenant: &Tenant, role: MemberRole| {
        let email = format!(
            "{}@{domain}.example",
            name.split(' ').next().unwrap_or(name).to_lowercase()
        );
        person(platform, name, email, hash, tenant, role)
    };
    let students = STUDENTS
        .iter()
        .map(|name| join(name, "demo", &demo, MemberRole::Student))
        .collect::<Result<_>>()?;
    Ok(School {
        is_new,
        organization: demo.id().clone(),
        admin: join("Admin Alvarez", "demo", &demo, MemberRole::Admin)?,
        ada: join("Ada Turner", "demo", &demo, MemberRole::Teacher)?,
        tom: join("Tom Fischer", "demo", &demo, MemberRole::Teacher)?,
        stranger: join("Zoe Marsh", "other", &other, MemberRole::Teacher)?,
        students,
    })
}

fn organization(platform: &mut Platform<'_>, name: &str, slug: &str) -> Result<Tenant> {
    let new = NewOrganization {
        id: OrganizationId::new(clock::new_id()),
        name: name.to_owned(),
        slug: slug.to_owned(),
        custom_domain: None,
    };
    platform.insert_organization(&new, clock::now())
}

fn person(
    platform: &mut Platform<'_>,
    name: &str,
    email: String,
    hash: &str,
    tenant: &Tenant,
    role: MemberRole,
) -> Result<Person> {
    if let Some(id) = platform.user_with_email(&email)? {
        return Ok(Person { id, email });
    }
    let mut new = NewUser::provisioned(name, &email, PlatformRole::Student, Some(hash.to_owned()));
    new.home = Some(tenant.id().clone());
    let now = clock::now();
    platform.insert_user(&new, now)?;
    platform.insert_member(tenant, &new.id, role, now)?;
    Ok(Person { id: new.id, email })
}
