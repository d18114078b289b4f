//! Catalog of events: payload, recipients and trigger of each. It generates `docs/events.json` (AsyncAPI). A new event
//! does not compile before it is described here.

use std::collections::BTreeMap;

use domain::realtime::{Event, PAYLOAD_MAX};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;

use super::event::{
    AssignmentCreated, AssignmentDeleted, AssignmentLinked, AssignmentSwitched, AssignmentUpdated, BoardActivity,
    ClassEvent, ClassMembership, CourseDeleted, CourseEvent, DirectNew, DocumentComments, DocumentCommits,
    DocumentCursor, DocumentEvent, DocumentRef, DocumentStatusChanged, EmptyPayload, Envelope, FeedbackEvent,
    GradeEvent, GroupCreated, GroupDeleted, GroupHelp, GroupHelpClaimed, GroupHelpResolved, GroupMembership,
    GroupPresence, GroupRemoved, GroupUpdated, HomeroomUpdated, ImportProgress, MessageEvent, MessageRead,
    OrganizationUpdated, Ready, RubricUpdated, SessionRevoked, SubjectUpdated, SubmissionEvent, UserUpdated,
};

/// A room, or the connection itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum EventChannel {
    User,
    Class,
    ClassStaff,
    Group,
    Document,
    Organization,
    OrganizationStaff,
    OrganizationAdmins,
    Connection,
}

use EventChannel::{
    Class, ClassStaff, Connection, Document, Group, Organization, OrganizationAdmins, OrganizationStaff, User,
};

impl EventChannel {
    const ALL: [Self; 9] = [
        User,
        Class,
        ClassStaff,
        Group,
        Document,
        Organization,
        OrganizationStaff,
        OrganizationAdmins,
        Connection,
    ];

    /// Returns the AsyncAPI key, the address and the description of the channel.
    const fn description(self) -> (&'static str, Option<&'static str>, &'static str) {
        match self {
            User => (
                "user",
                Some("user:{userId}"),
                "The connections of one user whose active organization is this one.",
            ),
            Class => (
                "class",
                Some("class:{classId}"),
                "The students of a class (unless it is a draft), its teachers and the admins. Not used for events of groups and topics.",
            ),
            ClassStaff => (
                "classStaff",
                Some("class:{classId}:staff"),
                "The teachers of a class and the admins.",
            ),
            Group => (
                "group",
                Some("group:{groupId}"),
                "The students of a group whose start date has passed. Events of a hidden group are sent to its staff only.",
            ),
            Document => (
                "document",
                Some("document:{documentId}"),
                "The connections that opened a document in the built-in editor with `document:open` and may view it.",
            ),
            Organization => (
                "organization",
                Some("organization:{organizationId}"),
                "The members of an organization.",
            ),
            OrganizationStaff => (
                "organizationStaff",
                Some("organization:{organizationId}:staff"),
                "The teachers and admins of an organization.",
            ),
            OrganizationAdmins => (
                "organizationAdmins",
                Some("organization:{organizationId}:admins"),
                "The admins of an organization.",
            ),
            Connection => (
                "connection",
                None,
                "A single connection: messages the server sends to this connection only.",
            ),
        }
    }
}

struct CatalogEntry {
    name: String,
    schema: RefOr<Schema>,
    parts: Vec<(String, RefOr<Schema>)>,
    channels: &'static [EventChannel],
    when: &'static str,
}

fn catalog_entry<T: ToSchema>(channels: &'static [EventChannel], when: &'static str) -> CatalogEntry {
    let mut parts = Vec::new();
    T::schemas(&mut parts);
    CatalogEntry {
        name: T::name().into_owned(),
        schema: T::schema(),
        parts,
        channels,
        when,
    }
}

/// The rooms of a group. Events of a hidden group are sent to the staff room only.
const OF_GROUP: &[EventChannel] = &[ClassStaff, Group];

#[expect(clippy::too_many_lines, reason = "a flat list of match arms or parts")]
fn describe(event: Event) -> CatalogEntry {
    match event {
        Event::GroupCreated => catalog_entry::<GroupCreated>(OF_GROUP, "A group was created."),
        Event::GroupUpdated => catalog_entry::<GroupUpdated<'_>>(
            OF_GROUP,
            "A field, the members, the attachments or the help flag of a group changed.",
        ),
        Event::GroupDeleted => {
            catalog_entry::<GroupDeleted>(OF_GROUP, "A group was deleted, by itself or with its course or class.")
        }
        Event::GroupRemoved => catalog_entry::<GroupRemoved>(
            &[User],
            "A student lost access to a group that was visible. The reason is not included.",
        ),
        Event::GroupMemberAdded => {
            catalog_entry::<GroupMembership>(&[ClassStaff, Group, User], "A student joined a group.")
        }
        Event::GroupMemberRemoved => catalog_entry::<GroupMembership>(OF_GROUP, "A student left a group."),
        Event::GroupHelp => catalog_entry::<GroupHelp>(
            &[ClassStaff],
            "A group requested help or no longer needs it, its message changed, or a teacher claimed the request. Never sent to students.",
        ),
        Event::GroupHelpResolved => catalog_entry::<GroupHelpResolved>(&[ClassStaff], "A help request was resolved."),
        Event::HelpClaimed => catalog_entry::<GroupHelpClaimed>(
            &[Group],
            "A teacher claimed the help request of the group and is on the way. Staff receive `group:help`.",
        ),
        Event::GroupPresence => catalog_entry::<GroupPresence>(
            &[Group],
            "Presence or typing in the group changed; at most one event per second. Staff receive `board:activity`.",
        ),
        Event::AssignmentCreated => catalog_entry::<AssignmentCreated>(
            OF_GROUP,
            "A topic was created. To the students of a group also: it was published for them.",
        ),
        Event::AssignmentUpdated => catalog_entry::<AssignmentUpdated<'_>>(
            OF_GROUP,
            "A field, an attachment, or the task text, extended deadline or publication of a single group changed.",
        ),
        Event::AssignmentDeleted => catalog_entry::<AssignmentDeleted>(
            OF_GROUP,
            "A topic was deleted. To the students of a group also: it was hidden from them.",
        ),
        Event::AssignmentAttached => {
            catalog_entry::<AssignmentLinked>(OF_GROUP, "A group was attached to a topic; one event per group.")
        }
        Event::AssignmentDetached => catalog_entry::<AssignmentLinked>(OF_GROUP, "A group was detached from a topic."),
        Event::AssignmentFinished => catalog_entry::<AssignmentSwitched>(OF_GROUP, "A topic was finished."),
        Event::AssignmentReopened => catalog_entry::<AssignmentSwitched>(OF_GROUP, "A topic was reopened."),
        Event::DocumentCreated => catalog_entry::<DocumentEvent<'_>>(OF_GROUP, "A document was created."),
        Event::DocumentUpdated => catalog_entry::<DocumentEvent<'_>>(
            OF_GROUP,
            "A document changed or was saved. At most one save event is sent per document in 5 seconds. Events that require the attention of staff are sent to staff only.",
        ),
        Event::DocumentDeleted => catalog_entry::<DocumentRef>(OF_GROUP, "A document was deleted."),
        Event::DocumentStatus => catalog_entry::<DocumentStatusChanged>(
            OF_GROUP,
            "A document was submitted, withdrawn, returned, locked or unlocked.",
        ),
        Event::DocumentFreezing => catalog_entry::<DocumentRef>(
            OF_GROUP,
            "A submission or a finish begins: clients keep their editor open until it has sent all pending edits.",
        ),
        Event::DocumentCommits => catalog_entry::<DocumentCommits>(
            &[Document],
            "Commits were appended to a document in the built-in editor.",
        ),
        Event::DocumentCursor => catalog_entry::<DocumentCursor>(
            &[Document],
            "The cursor of another page moved in the built-in editor, or the page was closed.",
        ),
        Event::DocumentComments => catalog_entry::<DocumentComments>(
            &[ClassStaff, Group, User],
            "A comment on a document was written, changed or deleted, or a thread of comments was resolved or reopened. Users who read the comments receive it in their own pages, without a thread.",
        ),
        Event::SubmissionCreated => catalog_entry::<SubmissionEvent>(OF_GROUP, "A group submitted."),
        Event::SubmissionWithdrawn => catalog_entry::<SubmissionEvent>(OF_GROUP, "A submission was withdrawn."),
        Event::SubmissionReturned => {
            catalog_entry::<SubmissionEvent>(OF_GROUP, "A submission was returned for revision.")
        }
        Event::GradePublished => catalog_entry::<GradeEvent>(
            &[ClassStaff, Group, User],
            "A grade was published, or a published grade changed. A student with an individual grade receives that grade. Students for whom nothing changed receive no event.",
        ),
        Event::GradeWithdrawn => catalog_entry::<GradeEvent>(OF_GROUP, "A published grade became a draft again."),
        Event::GradeDrafted => catalog_entry::<GradeEvent>(&[ClassStaff], "The draft of a grade changed."),
        Event::FeedbackCreated => {
            catalog_entry::<FeedbackEvent>(OF_GROUP, "Feedback was created. Staff notes are sent to staff only.")
        }
        Event::FeedbackUpdated => {
            catalog_entry::<FeedbackEvent>(OF_GROUP, "Feedback was changed, withdrawn or deleted.")
        }
        Event::MessageNew => catalog_entry::<MessageEvent>(OF_GROUP, "A room message was sent."),
        Event::MessageUpdated => catalog_entry::<MessageEvent>(OF_GROUP, "A room message was edited."),
        Event::MessageDeleted => catalog_entry::<MessageEvent>(OF_GROUP, "A room message was deleted."),
        Event::MessageRead => catalog_entry::<MessageRead>(&[User], "The user read a room in another session."),
        Event::BoardActivity => catalog_entry::<BoardActivity>(
            &[ClassStaff],
            "Presence or typing in a group changed; at most one event per second and group.",
        ),
        Event::CourseCreated => catalog_entry::<CourseEvent<'_>>(&[ClassStaff], "A course was created."),
        Event::CourseUpdated => catalog_entry::<CourseEvent<'_>>(&[ClassStaff], "A course changed."),
        Event::CourseDeleted => catalog_entry::<CourseDeleted>(&[ClassStaff], "A course was deleted."),
        Event::ClassCreated => catalog_entry::<ClassEvent<'_>>(&[ClassStaff], "A class was created."),
        Event::ClassUpdated => catalog_entry::<ClassEvent<'_>>(&[Class, ClassStaff], "A class changed."),
        Event::ClassDeleted => catalog_entry::<EmptyPayload>(&[Class, ClassStaff], "A class was deleted."),
        Event::ClassMembership => catalog_entry::<ClassMembership>(
            &[ClassStaff, User],
            "A student or a teacher joined or left a class. Not sent to students while the class is a draft.",
        ),
        Event::SubjectUpdated => {
            catalog_entry::<SubjectUpdated<'_>>(&[Organization], "A subject was created, changed or deleted.")
        }
        Event::HomeroomUpdated => catalog_entry::<HomeroomUpdated<'_>>(
            &[OrganizationStaff, User],
            "A homeroom was created, changed or deleted, or its students changed.",
        ),
        Event::UserUpdated => catalog_entry::<UserUpdated<'_>>(
            &[OrganizationStaff, User, Class],
            "A user joined, changed or left. Classes are only notified if the name or the image changed.",
        ),
        Event::OrganizationUpdated => catalog_entry::<OrganizationUpdated<'_>>(
            &[Organization, OrganizationAdmins],
            "The organization changed; for admins also its invitations, mail domains, API tokens and sign-on providers.",
        ),
        Event::DirectNew => catalog_entry::<DirectNew>(
            &[User, Class],
            "A direct message for its recipients, or an announcement for the students of a class.",
        ),
        Event::RubricUpdated => catalog_entry::<RubricUpdated>(
            &[OrganizationStaff, User, OrganizationAdmins],
            "A rubric was created, changed or deleted. Only its owner and administrators are notified of one that is not shared.",
        ),
        Event::SnippetsUpdated => catalog_entry::<EmptyPayload>(&[User], "The text snippets of the user changed."),
        Event::ImportProgress => catalog_entry::<ImportProgress>(&[User], "Progress of an import started by the user."),
        Event::SessionRevoked => {
            catalog_entry::<SessionRevoked>(&[Connection], "The session ended; the connection is closed.")
        }
        Event::Ready => catalog_entry::<Ready>(
            &[Connection],
            "The connection joined its rooms; clients should fetch what the missed events name, or everything they show if these are unknown.",
        ),
        Event::SyncRequired => catalog_entry::<EmptyPayload>(
            &[Connection, User],
            "Events may have been missed; clients should fetch everything they show.",
        ),
    }
}

/// Returns the AsyncAPI document.
#[expect(clippy::too_many_lines, reason = "a flat list of match arms or parts")]
pub fn document() -> Value {
    let mut schemas: BTreeMap<String, Value> = BTreeMap::new();
    let (mut messages, mut operations) = (Map::new(), Map::new());
    let mut of_channel: BTreeMap<EventChannel, Vec<String>> = BTreeMap::new();
    let envelope = catalog_entry::<Envelope>(&[], "");
    for (name, schema) in envelope.parts.into_iter().chain([(envelope.name, envelope.schema)]) {
        schemas.insert(name, json!(schema));
    }
    for event in Event::ALL {
        let described = describe(*event);
        // Keys of AsyncAPI components must not contain colons.
        let key = event.as_str().replace(':', ".");
        for (name, schema) in described
            .parts
            .into_iter()
            .chain([(described.name.clone(), described.schema)])
        {
            schemas.insert(name, json!(schema));
        }
        let limit = if event.has_free_text() {
            "Contains a text and may be larger than 2 KB."
        } else {
            "At most 2 KB."
        };
        let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
        messages.insert(
            key.clone(),
            json!({
                "name": event.as_str(),
                "title": event.as_str(),
                "summary": described.when,
                "description": limit,
                "contentType": "application/json",
                "payload": {"allOf": [reference("EventEnvelope"), reference(&described.name)]},
            }),
        );
        for channel in described.channels {
            of_channel.entry(*channel).or_default().push(key.clone());
        }
    }
    let client_messages = client_messages();
    let from_clients: Vec<String> = client_messages.keys().cloned().collect();
    messages.extend(client_messages);
    let mut channels = Map::new();
    for channel in EventChannel::ALL {
        let (key, address, who) = channel.description();
        let mut keys = of_channel.remove(&channel).unwrap_or_default();
        let sent = keys.clone();
        if channel == Connection {
            keys.extend(from_clients.iter().cloned());
        }
        let named: Map<_, _> = keys
            .iter()
            .map(|key| (key.clone(), json!({"$ref": format!("#/components/messages/{key}")})))
            .collect();
        let mut described = json!({"address": address, "description": who, "messages": named});
        if let Some(parameter) = address.and_then(|address| address.split(['{', '}']).nth(1)) {
            described["parameters"] = json!({parameter: {}});
        }
        channels.insert(key.to_owned(), described);
        let operation = |action: &str, keys: &[String]| {
            let messages = keys
                .iter()
                .map(|message| json!({"$ref": format!("#/channels/{key}/messages/{message}")}));
            json!({
                "action": action,
                "channel": {"$ref": format!("#/channels/{key}")},
                "messages": messages.collect::<Vec<_>>(),
            })
        };
        operations.insert(format!("{key}.send"), operation("send", &sent));
        if channel == Connection {
            operations.insert(format!("{key}.receive"), operation("receive", &from_clients));
        }
    }
    for schema in schemas.values_mut() {
        make_lists_nullable(schema);
    }
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "groupwork events",
            "version": env!("CARGO_PKG_VERSION"),
            "description": format!(
                "Events of the Socket.IO endpoint /api/socket.io. Only the server adds connections to rooms. Events are \
                 notifications: clients fetch the objects an event refers to, and everything they show on `ready` and \
                 `sync:required`. Missed events are not replayed. Payloads have at most {PAYLOAD_MAX} bytes, apart from \
                 the texts of room messages, direct messages and feedback: a list that does not fit is null, and a long \
                 string is truncated and ends with …. No event is sent when the start date of a group passes."
            ),
        },
        "defaultContentType": "application/json",
        "servers": {
            "service": {
                "host": "localhost:3000",
                "pathname": "/api/socket.io",
                "protocol": "wss",
                "description": "Engine.IO 4, polling and WebSocket, with the session cookie.",
            }
        },
        "channels": channels,
        "operations": operations,
        "components": {"messages": messages, "schemas": schemas},
    })
}

/// Returns the messages that clients send, by key; they use HTTP for everything else.
fn client_messages() -> Map<String, Value> {
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
    let position = json!({"type": ["integer", "null"]});
    [
        (
            "document:activity",
            "The user is typing in a document; at most once in 10 seconds.",
            json!({"documentId": text}),
        ),
        (
            "document:open",
            "A page opened a document in the built-in editor. The acknowledgement is `{ joined }`.",
            json!({"documentId": text, "generation": number, "clientId": text}),
        ),
        (
            "document:close",
            "A page closed a document in the built-in editor.",
            json!({"documentId": text, "clientId": text}),
        ),
        (
            "document:move",
            "The cursor of a page moved in the built-in editor; the service relays it as `document:cursor`.",
            json!({"documentId": text, "generation": number, "clientId": text, "version": number,
                "anchor": position, "head": position}),
        ),
    ]
    .into_iter()
    .map(|(name, summary, properties)| {
        let required: Vec<_> = properties
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
            .cloned()
            .collect();
        let message = json!({
            "name": name,
            "title": name,
            "summary": summary,
            "contentType": "application/json",
            "payload": {"type": "object", "required": required, "properties": properties},
        });
        (name.replace(':', "."), message)
    })
    .collect()
}

/// Marks lists as nullable, because lists that exceed the payload limit are replaced by null.
fn make_lists_nullable(schema: &mut Value) {
    for part in schema["allOf"].as_array_mut().into_iter().flatten() {
        make_lists_nullable(part);
    }
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    for property in properties.values_mut() {
        if property["type"] == "array" {
            property["type"] = json!(["array", "null"]);
        }
    }
}
