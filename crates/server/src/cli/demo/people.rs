//! The users of the demo: one school with an owner who is also a platform administrator, an administrator, two
//! teachers and two classes; and a second school that shows the isolation between schools.

use domain::access::{MemberRole, PlatformRole};
use domain::id::{OrganizationId, UserId};

use common::clock;
use common::error::Result;
use db::platform::organizations::NewOrganization;
use db::platform::users::NewUserAccount;
use db::platform::{CrossTenantReason, PlatformTx};
use db::{Store, Tenant};

/// The password of all demo users.
pub const PASSWORD: &str = "groupwork-demo";

const SEVEN_B: [&str; 23] = [
    "Ana Lima",
    "Ben Okoye",
    "Dario Rossi",
    "Cleo Martin",
    "Ella Novak",
    "Finn Jansen",
    "Greta Lind",
    "Hugo Weber",
    "Ines Costa",
    "Jonas Berg",
    "Kira Petrova",
    "Leo Dubois",
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

const EIGHT_A: [&str; 12] = [
    "Mira Haddad",
    "Elif Kaya",
    "Farid Nazari",
    "Jana Horak",
    "Karim Saleh",
    "Lena Vogt",
    "Marek Zeman",
    "Noor Rahimi",
    "Oskar Blom",
    "Petra Maric",
    "Rafael Silva",
    "Sofia Conti",
];

/// A user of the demo.
#[derive(Debug, Clone)]
pub struct DemoUser {
    pub id: UserId,
    /// The display name.
    pub name: String,
    /// The email address to sign in with.
    pub email: String,
}

/// The users of the demo.
pub struct School {
    /// Whether they were created just now.
    pub is_new: bool,
    pub organization: OrganizationId,
    /// The owner, who is also a platform administrator.
    pub root: DemoUser,
    /// The administrator.
    pub admin: DemoUser,
    /// The teacher of class 7b.
    pub ada: DemoUser,
    /// The teacher of class 8a.
    pub tom: DemoUser,
    /// The students of 7b.
    pub seven_b: Vec<DemoUser>,
    /// The students of 8a.
    pub eight_a: Vec<DemoUser>,
    /// The second school.
    pub other: OtherSchool,
}

/// A school that is invisible to members of the first one.
pub struct OtherSchool {
    pub organization: OrganizationId,
    pub admin: DemoUser,
    /// The teacher.
    pub zoe: DemoUser,
    pub students: Vec<DemoUser>,
}

impl School {
    /// Finds the users of an earlier run, or creates them.
    pub async fn find_or_create(store: &Store) -> anyhow::Result<Self> {
        // One hash for all: they share the password, and forty hashes would slow down the start.
        let hash = tokio::task::spawn_blocking(|| better_auth::password::hash(PASSWORD)).await?;
        let school = store
            .platform_write(CrossTenantReason::CommandLine, move |platform| create(platform, &hash))
            .await
            .map_err(anyhow::Error::new)?;
        Ok(school)
    }

    /// Returns the accounts to print, with their roles.
    pub fn sign_ins(&self) -> Vec<(String, &str)> {
        let mut lines = vec![
            ("teacher of 7b (running lesson)".to_owned(), self.ada.email.as_str()),
            ("teacher of 8a".to_owned(), self.tom.email.as_str()),
            ("administrator".to_owned(), self.admin.email.as_str()),
            ("owner, runs the platform".to_owned(), self.root.email.as_str()),
        ];
        let student = |class: &str, person: &DemoUser| format!("student of {class}: {}", person.name);
        let few = [&self.seven_b[0], &self.seven_b[1], &self.seven_b[3]];
        lines.extend(few.map(|person| (student("7b", person), person.email.as_str())));
        let mira = &self.eight_a[0];
        lines.push((student("8a", mira), mira.email.as_str()));
        lines.push(("teacher of another school".to_owned(), self.other.zoe.email.as_str()));
        lines
    }
}

fn create(platform: &mut PlatformTx<'_>, hash: &str) -> Result<School> {
    let existing = platform.organization_with_slug("demo")?;
    let is_new = existing.is_none();
    let demo = existing.map_or_else(|| organization(platform, "Demo School", "demo"), Ok)?;
    let other = platform.organization_with_slug("other")?;
    let other = other.map_or_else(|| organization(platform, "Other School", "other"), Ok)?;
    let mut join = |name: &str, domain: &str, tenant: &Tenant, role: MemberRole| {
        let first = name.split(' ').next().unwrap_or(name).to_lowercase();
        person(platform, name, format!("{first}@{domain}.example"), hash, tenant, role)
    };
    let mut class = |names: &[&str]| -> Result<Vec<DemoUser>> {
        let students = names.iter().map(|name| join(name, "demo", &demo, MemberRole::Student));
        students.collect()
    };
    let (seven_b, eight_a) = (class(&SEVEN_B)?, class(&EIGHT_A)?);
    Ok(School {
        is_new,
        organization: demo.id().clone(),
        root: join("Root Keeper", "demo", &demo, MemberRole::Owner)?,
        admin: join("Admin Alvarez", "demo", &demo, MemberRole::Admin)?,
        ada: join("Ada Turner", "demo", &demo, MemberRole::Teacher)?,
        tom: join("Tom Fischer", "demo", &demo, MemberRole::Teacher)?,
        seven_b,
        eight_a,
        other: OtherSchool {
            organization: other.id().clone(),
            admin: join("Iris Bloom", "other", &other, MemberRole::Admin)?,
            zoe: join("Zoe Marsh", "other", &other, MemberRole::Teacher)?,
            students: ["Max Stein", "Lia Frost", "Emil Sand"]
                .iter()
                .map(|name| join(name, "other", &other, MemberRole::Student))
                .collect::<Result<_>>()?,
        },
    })
}

fn organization(platform: &mut PlatformTx<'_>, name: &str, slug: &str) -> Result<Tenant> {
    let new = NewOrganization {
        id: OrganizationId::new(clock::new_id()),
        name: name.to_owned(),
        slug: slug.to_owned(),
        custom_domain: None,
    };
    platform.insert_organization(&new, clock::now())
}

fn person(
    platform: &mut PlatformTx<'_>,
    name: &str,
    email: String,
    hash: &str,
    tenant: &Tenant,
    role: MemberRole,
) -> Result<DemoUser> {
    let name = name.to_owned();
    if let Some(id) = platform.user_with_email(&email)? {
        return Ok(DemoUser { id, name, email });
    }
    let platform_role = match role {
        MemberRole::Owner => PlatformRole::SuperAdmin,
        MemberRole::Admin | MemberRole::Teacher | MemberRole::Student => PlatformRole::Student,
    };
    let mut new = NewUserAccount::provisioned(&name, &email, platform_role, Some(hash.to_owned()));
    new.home = Some(tenant.id().clone());
    if let Some((first, last)) = name.split_once(' ') {
        (new.first_name, new.last_name) = (Some(first.to_owned()), Some(last.to_owned()));
    }
    let now = clock::now();
    platform.insert_user(&new, now)?;
    platform.insert_member(tenant, &new.id, role, now)?;
    Ok(DemoUser {
        id: new.id,
        name,
        email,
    })
}
