//! OneRoster REST 1.1 and 1.2: organizations, academic sessions, users, classes and enrollments, in this order, so that
//! each record refers to known ones.

use domain::import::PEOPLE_MAX;
use reqwest::Response;
use serde_json::Value;
use url::Url;

use super::items::ListLocation;
use super::paging::{ListPages, NextPage, PAGE_ROWS, PageHeaders, resolve_link};
use super::session::{ItemReader, RosterSession, list, text};
use super::writer::{ENROLLMENTS_MAX, RosterClass, RosterEnrollment, RosterUser, RosterWriter};
use super::{FetchedRoster, RosterError, RosterTimeouts};

/// A list of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RosterList {
    Orgs,
    Sessions,
    Users,
    Teachers,
    Students,
    Classes,
    Enrollments,
}

impl RosterList {
    /// The last part of the path, and the name in errors.
    const fn path(self) -> &'static str {
        match self {
            Self::Orgs => "orgs",
            Self::Sessions => "academicSessions",
            Self::Users => "users",
            Self::Teachers => "teachers",
            Self::Students => "students",
            Self::Classes => "classes",
            Self::Enrollments => "enrollments",
        }
    }

    const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Orgs => &["orgs"],
            Self::Sessions => &["academicSessions"],
            Self::Users => &["users"],
            Self::Teachers => &["users", "teachers"],
            Self::Students => &["users", "students"],
            Self::Classes => &["classes"],
            Self::Enrollments => &["enrollments"],
        }
    }

    const fn limit(self) -> usize {
        match self {
            Self::Enrollments => ENROLLMENTS_MAX,
            _ => PEOPLE_MAX,
        }
    }
}

/// A run that reads one server.
pub(super) struct OneRosterRun<'a> {
    session: RosterSession<'a>,
    timeouts: RosterTimeouts,
    base: Url,
    school_id: Option<&'a str>,
    writer: RosterWriter,
    /// Whether requests ask for a fixed order; not if the server rejects that.
    is_sorted: bool,
    schools: u64,
}

impl<'a> OneRosterRun<'a> {
    pub(super) const fn new(
        session: RosterSession<'a>,
        timeouts: RosterTimeouts,
        base: Url,
        school_id: Option<&'a str>,
        writer: RosterWriter,
    ) -> Self {
        Self {
            session,
            timeouts,
            base,
            school_id,
            writer,
            is_sorted: true,
            schools: 0,
        }
    }

    /// Reads the whole roster.
    pub(super) async fn read(mut self) -> Result<FetchedRoster, RosterError> {
        self.read_list(RosterList::Orgs).await?;
        match (self.schools, self.school_id) {
            (1, _) => {}
            (0, _) => return Err(RosterError::NoSchool),
            (schools, _) => return Err(RosterError::SeveralSchools(schools)),
        }
        match self.read_list(RosterList::Sessions).await {
            // The import then uses the present school year.
            Err(RosterError::NotFound(_)) => {}
            read => read?,
        }
        match self.read_list(RosterList::Users).await {
            Err(RosterError::NotFound(_)) => {
                self.read_list(RosterList::Teachers).await?;
                self.read_list(RosterList::Students).await?;
            }
            read => read?,
        }
        self.read_list(RosterList::Classes).await?;
        self.read_list(RosterList::Enrollments).await?;
        self.writer.finish(None).await
    }

    async fn read_list(&mut self, list: RosterList) -> Result<(), RosterError> {
        let mut pages = ListPages::new(list.path(), list.limit());
        let mut url = self.url(list, PAGE_ROWS, 0)?;
        loop {
            let response = match self.session.get(&url, list.path(), None).await {
                Ok(response) => response,
                // Behind the last row.
                Err(RosterError::NotFound(_)) if !pages.is_first() => break,
                Err(RosterError::ErrorResponse { status: 400 | 422, .. }) if pages.is_first() && self.is_sorted => {
                    self.is_sorted = false;
                    url = self.url(list, PAGE_ROWS, 0)?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let headers = PageHeaders::parse(response.headers());
            self.read_page(response, list, &mut pages).await?;
            url = match pages.end_page(headers)? {
                NextPage::Link(link) => resolve_link(&url, &link, list.path())?,
                NextPage::Offset(offset) => self.url(list, PAGE_ROWS, offset)?,
                NextPage::End => break,
            };
        }
        pages.check_total()?;
        self.check_boundaries(list, &mut pages).await
    }

    async fn read_page(
        &mut self,
        response: Response,
        list: RosterList,
        pages: &mut ListPages,
    ) -> Result<(), RosterError> {
        let mut items = ItemReader::new(response, ListLocation::Keys(list.keys()), list.path(), self.timeouts);
        while let Some(item) = items.next().await? {
            // Rows without an id cannot be compared, and are skipped below.
            if pages.note(&text(&item, "sourcedId"))? {
                self.accept(list, &item).await?;
            }
        }
        Ok(())
    }

    /// Reads the rows before pages again: they move if the list shrank.
    async fn check_boundaries(&mut self, list: RosterList, pages: &mut ListPages) -> Result<(), RosterError> {
        for (offset, key) in pages.take_boundaries() {
            let url = self.url(list, 1, offset)?;
            let response = match self.session.get(&url, list.path(), None).await {
                Err(RosterError::NotFound(_)) => return Err(RosterError::Inconsistent(list.path())),
                response => response?,
            };
            let mut items = ItemReader::new(response, ListLocation::Keys(list.keys()), list.path(), self.timeouts);
            let first = items.next().await?.unwrap_or_default();
            if !pages.is_row(key, &text(&first, "sourcedId")) {
                return Err(RosterError::Inconsistent(list.path()));
            }
        }
        Ok(())
    }

    fn url(&self, list: RosterList, limit: u64, offset: u64) -> Result<Url, RosterError> {
        let mut url = self.base.clone();
        url.path_segments_mut()
            .map_err(|()| RosterError::AddressNotAllowed)?
            .pop_if_empty()
            .push(list.path());
        {
            let mut query = url.query_pairs_mut();
            query
                .append_pair("limit", &limit.to_string())
                .append_pair("offset", &offset.to_string());
            if self.is_sorted {
                query.append_pair("sort", "sourcedId").append_pair("orderBy", "asc");
            }
        }
        Ok(url)
    }

    async fn accept(&mut self, list: RosterList, item: &Value) -> Result<(), RosterError> {
        if !item.is_object() {
            self.writer.skip(list.path(), "", "not_an_object");
            return Ok(());
        }
        match list {
            RosterList::Orgs => {
                self.accept_org(item);
                Ok(())
            }
            RosterList::Sessions => {
                let (id, year) = (text(item, "sourcedId"), text(item, "schoolYear"));
                self.writer.add_term(&id, &year).await
            }
            RosterList::Users => self.accept_user(item, "").await,
            RosterList::Teachers => self.accept_user(item, "teacher").await,
            RosterList::Students => self.accept_user(item, "student").await,
            RosterList::Classes => self.accept_class(item).await,
            RosterList::Enrollments => self.accept_enrollment(item).await,
        }
    }

    fn accept_org(&mut self, org: &Value) {
        let is_school = match self.school_id {
            Some(id) => text(org, "sourcedId") == id,
            None => text(org, "type").eq_ignore_ascii_case("school"),
        };
        if is_school && !is_deleted(org) {
            self.schools += 1;
        }
    }

    async fn accept_user(&mut self, user: &Value, list_role: &str) -> Result<(), RosterError> {
        if !self.is_of_school(user) {
            return Ok(());
        }
        let mut role = choose_role(user, self.school_id);
        if role.is_empty() {
            list_role.clone_into(&mut role);
        }
        let is_enabled = !text(user, "enabledUser").eq_ignore_ascii_case("false");
        let user = RosterUser {
            id: text(user, "sourcedId"),
            is_deleted: is_deleted(user),
            // OneRoster 1.0 knew inactive records.
            is_enabled: is_enabled && !text(user, "status").eq_ignore_ascii_case("inactive"),
            role,
            username: text(user, "username"),
            given_name: text(user, "givenName"),
            family_name: text(user, "familyName"),
            email: text(user, "email"),
        };
        self.writer.add_user(&user).await
    }

    /// Whether a user belongs to the school. If the server has one school, all users do.
    fn is_of_school(&self, user: &Value) -> bool {
        let Some(school) = self.school_id else { return true };
        let has_org = |org: &Value| text(org, "sourcedId") == school;
        let has_role = |role: &Value| role.get("org").is_some_and(has_org);
        list(user, "orgs").iter().any(has_org)
            || list(user, "roles").iter().any(has_role)
            || user.get("primaryOrg").is_some_and(has_org)
    }

    async fn accept_class(&mut self, class: &Value) -> Result<(), RosterError> {
        if self
            .school_id
            .is_some_and(|school| reference(class, "school") != school)
        {
            return Ok(());
        }
        let terms = list(class, "terms").iter().map(|term| text(term, "sourcedId"));
        let class = RosterClass {
            id: text(class, "sourcedId"),
            is_deleted: is_deleted(class),
            title: text(class, "title"),
            is_homeroom: text(class, "classType").eq_ignore_ascii_case("homeroom"),
            terms: terms.collect(),
        };
        self.writer.add_class(&class).await
    }

    async fn accept_enrollment(&mut self, enrollment: &Value) -> Result<(), RosterError> {
        let class = reference(enrollment, "class");
        // The classes of other schools are not known.
        if self.school_id.is_some() && !self.writer.has_class(&class) {
            return Ok(());
        }
        let enrollment = RosterEnrollment {
            class,
            user: reference(enrollment, "user"),
            role: text(enrollment, "role"),
            is_primary: text(enrollment, "primary").eq_ignore_ascii_case("true"),
            is_deleted: is_deleted(enrollment),
        };
        self.writer.add_enrollment(&enrollment).await
    }
}

/// Returns the id in a reference to another record.
fn reference(value: &Value, key: &str) -> String {
    value
        .get(key)
        .map(|target| text(target, "sourcedId"))
        .unwrap_or_default()
}

fn is_deleted(value: &Value) -> bool {
    text(value, "status").eq_ignore_ascii_case("tobedeleted")
}

/// Returns the role of a user: `role` of 1.1, or one of `roles` of 1.2, at this school if there are several. Who has
/// several roles, such as principal and teacher, gets the first one that the import uses, the primary one preferred.
fn choose_role(user: &Value, school: Option<&str>) -> String {
    let roles = list(user, "roles");
    if roles.is_empty() {
        return text(user, "role");
    }
    let is_here = |role: &&Value| {
        let org = reference(role, "org");
        org.is_empty() || school.is_none_or(|school| org == school)
    };
    let is_primary = |role: &&Value| text(role, "roleType").eq_ignore_ascii_case("primary");
    let mut here: Vec<&Value> = roles.iter().filter(is_here).collect();
    here.sort_by_key(|role| !is_primary(role));
    let names: Vec<String> = here.iter().map(|role| text(role, "role")).collect();
    let is_used = |name: &&String| name.eq_ignore_ascii_case("teacher") || name.eq_ignore_ascii_case("student");
    let chosen = names.iter().find(is_used).or_else(|| names.first());
    chosen.cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn role_is_that_of_the_school_and_of_lessons() {
        let role =
            |role: &str, kind: &str, org: &str| json!({"role": role, "roleType": kind, "org": {"sourcedId": org}});
        let user = |roles: Vec<Value>| json!({"roles": roles});
        assert_eq!(choose_role(&json!({"role": "student"}), Some("A")), "student");
        let both = user(vec![role("teacher", "secondary", "A"), role("student", "primary", "B")]);
        assert_eq!(choose_role(&both, Some("A")), "teacher");
        assert_eq!(choose_role(&both, Some("B")), "student");
        assert_eq!(choose_role(&both, None), "student");
        let principal = user(vec![
            role("principal", "primary", "A"),
            role("teacher", "secondary", "A"),
        ]);
        assert_eq!(choose_role(&principal, Some("A")), "teacher");
        let parent = user(vec![role("aide", "secondary", "A"), role("parent", "primary", "A")]);
        assert_eq!(choose_role(&parent, None), "parent");
        assert_eq!(choose_role(&parent, Some("C")), "");
        assert_eq!(choose_role(&json!({}), None), "");
    }
}
