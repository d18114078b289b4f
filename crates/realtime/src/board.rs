//! Publishes presence and typing: once a second the changes, one event per group, to the staff of its class for the
//! lesson board, and to its own students. Every instance notifies its own sockets; these events are neither stored nor
//! sent over the bus.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use domain::id::{GroupId, OrganizationId, UserId};
use domain::realtime::{Event, Room};
use serde::Serialize;

use super::connection::SocketConnection;
use super::dispatch::Emission;
use super::presence::OrganizationUser;
use super::typing::MINUTES;
use super::{RealtimeServer, payload};
use api_types::event::{BoardActivity, GroupPresence};
use common::clock;
use common::error::Result;
use db::platform::CrossTenantReason;
use db::platform::boards::BoardGroup;

/// After this many rounds, the other instances receive the full list of connected users.
const ROUNDS: u32 = 10;
/// Users looked up per round. After a restart all reconnect at once; the rest waits for the next round.
const USERS_PER_ROUND: usize = 200;

/// What one round passes to the next.
#[derive(Default)]
pub(super) struct BoardRounds {
    number: u32,
    /// Users whose boards are due.
    waiting: Vec<Arc<OrganizationUser>>,
    presence_changes: u64,
}

impl RealtimeServer {
    /// Publishes what has changed since the last round.
    pub async fn publish_boards(&self) -> Result<()> {
        let mut rounds = self.0.board_rounds.lock().await;
        rounds.number = (rounds.number + 1) % ROUNDS;
        // Loaded before the sockets, so that a concurrent change is noticed in the next round.
        let presence_changes = self.0.presence_changes.load(Ordering::Relaxed);
        let has_presence_changed = rounds.presence_changes != presence_changes;
        rounds.presence_changes = presence_changes;
        let is_full_round = rounds.number == 0;
        self.publish_boards_of(&mut rounds.waiting, has_presence_changed, is_full_round)
            .await
    }

    async fn publish_boards_of(
        &self,
        waiting: &mut Vec<Arc<OrganizationUser>>,
        has_presence_changed: bool,
        is_full_round: bool,
    ) -> Result<()> {
        let peers = &self.0.peers;
        let is_full_round = is_full_round && peers.has_queue();
        let connected_users: Option<HashSet<Arc<OrganizationUser>>> =
            (has_presence_changed || is_full_round).then(|| {
                let sockets = self.sockets();
                sockets
                    .iter()
                    .filter_map(SocketConnection::of)
                    .filter_map(|connection| connection.organization_user())
                    .collect()
            });
        if let Some(connected_users) = connected_users.as_ref().filter(|_| is_full_round) {
            peers.send_connected(&connected_users.iter().cloned().collect::<Vec<_>>());
        }
        let changes = self.0.presence.update(connected_users, Instant::now());
        peers.send_connected(&changes.connected);
        peers.send_disconnected(&changes.disconnected);
        waiting.extend(changes.changed);
        let groups = self.0.typing.take_changed(clock::now());
        if waiting.is_empty() && groups.is_empty() {
            return Ok(());
        }
        let people = waiting.drain(..waiting.len().min(USERS_PER_ROUND));
        let people: Vec<OrganizationUser> = people
            .map(|organization_user| OrganizationUser::clone(&organization_user))
            .collect();
        let found = self
            .0
            .store
            .platform_read(CrossTenantReason::Housekeeping, move |platform| {
                platform.board_groups(&people, &groups)
            });
        for group in found.await? {
            self.publish_board(group).await;
        }
        Ok(())
    }

    async fn publish_board(&self, group: BoardGroup) {
        // A hidden group has no students in its room.
        let (staff_room, student_room) = (Room::Staff(group.class.clone()), Room::Group(group.id.clone()));
        let (has_staff, has_students) = (self.count(&staff_room) > 0, self.count(&student_room) > 0);
        if !has_staff && !has_students {
            return;
        }
        let (writing, activity) = self.group_activity(&group.organization, &group.id, &group.members);
        let online = self.online_members(&group.organization, &group.members);
        if has_students {
            let presence = GroupPresence {
                group_id: group.id.clone(),
                online: online.clone(),
                writing: writing.clone(),
            };
            self.emit_presence(&group, student_room, Event::GroupPresence, &presence)
                .await;
        }
        if has_staff {
            let board = BoardActivity {
                group_id: group.id.clone(),
                online,
                writing,
                activity: activity.to_vec(),
            };
            self.emit_presence(&group, staff_room, Event::BoardActivity, &board)
                .await;
        }
    }

    async fn emit_presence(&self, group: &BoardGroup, room: Room, event: Event, content: &impl Serialize) {
        let (organization, class) = (group.organization.clone(), group.class.clone());
        self.emit(Emission {
            organization: Some(group.organization.clone()),
            rooms: vec![room],
            except: Vec::new(),
            event,
            payload: payload(event, Some(organization), Some(class), content),
        })
        .await;
    }

    /// The members of a group who are online.
    pub fn online_members(&self, organization: &OrganizationId, members: &[UserId]) -> Vec<UserId> {
        let is_online = |member: &&UserId| self.is_online(organization, member);
        members.iter().filter(is_online).cloned().collect()
    }

    /// The members of a group who are writing, and the number of activity events in each of the last 20 minutes.
    pub fn group_activity(
        &self,
        organization: &OrganizationId,
        group: &GroupId,
        members: &[UserId],
    ) -> (Vec<UserId>, [u32; MINUTES]) {
        let group_key = (organization.clone(), group.clone());
        let (mut writing, activity) = self.0.typing.get(&group_key, clock::now());
        // Users who have left the group are removed.
        writing.retain(|user| members.contains(user));
        (writing, activity)
    }
}
