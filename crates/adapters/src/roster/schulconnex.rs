//! Schulconnex: one response with all persons, their contexts and groups. Groups of type `Klasse` are homerooms, those
//! of type `Kurs` are classes.

use std::collections::HashSet;

use domain::import::PEOPLE_MAX;
use domain::time::Timestamp;
use serde_json::Value;
use url::Url;

use super::items::ListLocation;
use super::session::{ItemReader, RosterSession, list, text};
use super::writer::{RosterClass, RosterEnrollment, RosterUser, RosterWriter};
use super::{RosterAnswer, RosterError, RosterTimeouts};
use common::clock;

const RESOURCE: &str = "personen-info";
/// Maximum length of an entity tag that is kept.
const ETAG_MAX: usize = 200;
/// Maximum number of organizations that are counted.
const ORGANIZATIONS_MAX: usize = 1000;

/// A run that reads one server.
pub(super) struct SchulconnexRun<'a> {
    session: RosterSession<'a>,
    timeouts: RosterTimeouts,
    base: Url,
    school_id: Option<&'a str>,
    writer: RosterWriter,
    now: Timestamp,
    /// The organizations of contexts, to be one.
    organizations: HashSet<String>,
    persons: u64,
    named_persons: u64,
    contexts: u64,
    contexts_with_role: u64,
}

impl<'a> SchulconnexRun<'a> {
    pub(super) fn new(
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
            now: clock::now(),
            organizations: HashSet::new(),
            persons: 0,
            named_persons: 0,
            contexts: 0,
            contexts_with_role: 0,
        }
    }

    /// Reads the whole roster, unless it still has this entity tag.
    pub(super) async fn read(mut self, etag: Option<&str>) -> Result<RosterAnswer, RosterError> {
        let url = self.url()?;
        let response = self.session.get(&url, RESOURCE, etag).await?;
        if response.status() == reqwest::StatusCode::NOT_MODIFIED {
            return Ok(RosterAnswer::Unchanged);
        }
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let new_etag = header("etag").filter(|etag| etag.len() <= ETAG_MAX).map(str::to_owned);
        let total: Option<u64> = header("x-total-count").and_then(|text| text.trim().parse().ok());
        let mut persons = ItemReader::new(response, ListLocation::Document, RESOURCE, self.timeouts);
        while let Some(person) = persons.next().await? {
            self.persons += 1;
            if self.persons > PEOPLE_MAX as u64 {
                return Err(RosterError::TooMany {
                    resource: RESOURCE,
                    limit: PEOPLE_MAX,
                });
            }
            self.accept_person(&person).await?;
        }
        if let Some(expected) = total
            && expected != self.persons
        {
            return Err(RosterError::Truncated {
                resource: RESOURCE,
                expected,
                received: self.persons,
            });
        }
        self.check_content()?;
        Ok(RosterAnswer::Changed(self.writer.finish(new_etag).await?))
    }

    /// Rejects a response in which everything of a kind is missing: the operator of the server has not released it for
    /// this client, and no person has left.
    fn check_content(&self) -> Result<(), RosterError> {
        let missing = |reason| {
            Err(RosterError::NotARoster {
                resource: RESOURCE,
                reason,
            })
        };
        if self.persons > 0 && self.contexts == 0 && self.school_id.is_some() {
            return Err(RosterError::NoSchool);
        }
        if self.persons > 0 && self.named_persons == 0 {
            return missing("no person has a name; the operator of the server must release names for this client");
        }
        if self.persons > 0 && self.contexts_with_role == 0 {
            return missing("no person has a role; the operator of the server must release roles for this client");
        }
        match self.organizations.len() {
            count if count > 1 && self.school_id.is_none() => Err(RosterError::SeveralSchools(count as u64)),
            _ => Ok(()),
        }
    }

    fn url(&self) -> Result<Url, RosterError> {
        let mut url = self.base.clone();
        {
            let mut segments = url.path_segments_mut().map_err(|()| RosterError::AddressNotAllowed)?;
            segments.pop_if_empty();
            if !self.base.path().trim_end_matches('/').ends_with(RESOURCE) {
                segments.push(RESOURCE);
            }
        }
        // The commas are part of the syntax.
        url.set_query(Some("vollstaendig=personen,personenkontexte,organisationen,gruppen"));
        if let Some(school) = self.school_id {
            url.query_pairs_mut().append_pair("organisation.id", school);
        }
        Ok(url)
    }

    async fn accept_person(&mut self, person: &Value) -> Result<(), RosterError> {
        if !person.is_object() {
            self.writer.skip("users", "", "not_an_object");
            return Ok(());
        }
        let id = text(person, "pid");
        let mut contexts: Vec<&Value> = Vec::new();
        for context in list(person, "personenkontexte") {
            let organization = context.get("organisation").map(|organization| text(organization, "id"));
            let organization = organization.unwrap_or_default();
            if self.school_id.is_some_and(|school| organization != school) {
                continue;
            }
            if !organization.is_empty() && self.organizations.len() < ORGANIZATIONS_MAX {
                self.organizations.insert(organization);
            }
            contexts.push(context);
        }
        if contexts.is_empty() && self.school_id.is_some() {
            return Ok(());
        }
        self.contexts += contexts.len() as u64;
        let (deleted, active): (Vec<&Value>, Vec<&Value>) =
            contexts.into_iter().partition(|context| self.is_deleted(context));
        let roles: Vec<String> = active
            .iter()
            .chain(&deleted)
            .map(|context| text(context, "rolle"))
            .collect();
        self.contexts_with_role += roles.iter().filter(|role| !role.is_empty()).count() as u64;
        let user = self.user(person, id, &active, !deleted.is_empty() && active.is_empty(), &roles);
        self.writer.add_user(&user).await?;
        if !self.writer.has_user(&user.id) {
            // It was skipped.
            return Ok(());
        }
        for context in active {
            for group in list(context, "gruppen") {
                self.accept_group(group, &user).await?;
            }
        }
        Ok(())
    }

    fn user(
        &mut self,
        person: &Value,
        id: String,
        contexts: &[&Value],
        is_deleted: bool,
        roles: &[String],
    ) -> RosterUser {
        let name = person
            .get("person")
            .and_then(|person| person.get("name"))
            .unwrap_or(&Value::Null);
        let (given_name, called) = (text(name, "vorname"), text(name, "rufname"));
        let family_name = text(name, "familienname");
        if !given_name.is_empty() || !family_name.is_empty() {
            self.named_persons += 1;
        }
        let contacts = contexts.iter().flat_map(|context| list(context, "erreichbarkeiten"));
        let email = contacts
            .filter(|contact| text(contact, "typ").eq_ignore_ascii_case("e-mail"))
            .map(|contact| text(contact, "kennung"))
            .find(|address| !address.is_empty());
        let has = |code: &str| roles.iter().any(|role| role.eq_ignore_ascii_case(code));
        let role = if has("Lehr") {
            "teacher"
        } else if has("Lern") {
            "student"
        } else if roles.iter().any(|role| !role.is_empty()) {
            "other"
        } else {
            ""
        };
        RosterUser {
            id,
            is_deleted,
            is_enabled: true,
            role: role.to_owned(),
            username: String::new(),
            given_name: if called.is_empty() { given_name } else { called },
            family_name,
            email: email.unwrap_or_default(),
        }
    }

    async fn accept_group(&mut self, record: &Value, user: &RosterUser) -> Result<(), RosterError> {
        let group = record.get("gruppe").unwrap_or(&Value::Null);
        let is_homeroom = match text(group, "typ").to_ascii_lowercase().as_str() {
            "klasse" => true,
            "kurs" => false,
            // Other groups have no lessons.
            _ => return Ok(()),
        };
        let id = text(group, "id");
        if !self.writer.has_class(&id) {
            let years = group.get("laufzeit").and_then(school_year);
            let mut terms = Vec::new();
            if let Some(ends) = years {
                terms.push(format!("year-{ends}"));
                self.writer.add_term(&terms[0], &ends.to_string()).await?;
            }
            let class = RosterClass {
                id: id.clone(),
                is_deleted: false,
                title: text(group, "bezeichnung"),
                is_homeroom,
                terms,
            };
            self.writer.add_class(&class).await?;
            if !self.writer.has_class(&id) {
                // It was skipped.
                return Ok(());
            }
        }
        let membership = record.get("gruppenzugehoerigkeit").unwrap_or(&Value::Null);
        if !self.is_current(membership) {
            return Ok(());
        }
        let leads = if is_homeroom { "KlLeit" } else { "Lehr" };
        let is_primary = list(membership, "rollen")
            .iter()
            .any(|role| role.as_str() == Some(leads));
        let enrollment = RosterEnrollment {
            class: id,
            user: user.id.clone(),
            role: user.role.clone(),
            is_primary: is_primary && user.role == "teacher",
            is_deleted: false,
        };
        self.writer.add_enrollment(&enrollment).await
    }

    /// Whether the time of deletion of a context has passed.
    fn is_deleted(&self, context: &Value) -> bool {
        let deletion = context.get("loeschung").map(|deletion| text(deletion, "zeitpunkt"));
        deletion.is_some_and(|at| !at.is_empty() && parse_minute(&at).is_some_and(|at| at <= self.now))
    }

    /// Whether a membership has begun and has not ended. Dates are compared as texts.
    fn is_current(&self, membership: &Value) -> bool {
        let today = self.now.to_string();
        let today = today.get(..10).unwrap_or_default();
        let date = |key: &str| text(membership, key).get(..10).map(str::to_owned);
        date("von").is_none_or(|from| from.as_str() <= today) && date("bis").is_none_or(|until| until.as_str() >= today)
    }
}

/// Parses `YYYY-MM-DDThh:mmZ`, also with seconds.
fn parse_minute(text: &str) -> Option<Timestamp> {
    let with_seconds = || Timestamp::parse(&format!("{}:00Z", text.strip_suffix('Z')?)).ok();
    Timestamp::parse(text).ok().or_else(with_seconds)
}

/// Returns the year in which the school year of a group ends. `2026` and `2026-1` are learning periods of the school
/// year that begins in August 2026.
fn school_year(period: &Value) -> Option<u16> {
    let year = |text: &str| {
        text.get(..4)
            .and_then(|year| year.parse::<u16>().ok())
            .filter(|year| *year > 1000)
    };
    let of_date = |text: String| {
        let month: u8 = text.get(5..7)?.parse().ok()?;
        Some(year(&text)? + u16::from(month >= 8))
    };
    let of_period = |text: String| year(&text).map(|year| year + 1);
    of_period(text(period, "vonlernperiode"))
        .or_else(|| of_date(text(period, "von")))
        .or_else(|| of_period(text(period, "bislernperiode")))
        .or_else(|| of_date(text(period, "bis")))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;
    use serde_json::json;

    #[test]
    fn school_year_of_group_is_read_from_dates_and_periods() {
        for (period, year) in [
            (json!({"vonlernperiode": "2026-2"}), Some(2027)),
            (json!({"vonlernperiode": "2026"}), Some(2027)),
            (json!({"von": "2026-08-01", "bis": "2028-07-31"}), Some(2027)),
            (json!({"von": "2027-02-01"}), Some(2027)),
            (json!({"bis": "2027-07-31"}), Some(2027)),
            (json!({"bislernperiode": "2026-1"}), Some(2027)),
            (json!({"von": "soon"}), None),
            (json!({}), None),
        ] {
            assert_eq!(school_year(&period), year, "{period}");
        }
    }

    #[test]
    fn time_of_deletion_may_lack_seconds() {
        let expected = Timestamp::parse("2026-03-01T12:30:00Z").unwrap();
        assert_eq!(parse_minute("2026-03-01T12:30Z"), Some(expected));
        assert_eq!(parse_minute("2026-03-01T12:30:00Z"), Some(expected));
        assert_eq!(parse_minute("soon"), None);
    }
}
