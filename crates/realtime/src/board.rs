//! Publishes presence and typing to lesson boards: once a second the changes, one event per group, to the staff of its
//! class only. Every instance notifies its own sockets; these events are neither stored nor sent over the bus.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use domain::id::{GroupId, OrganizationId, UserId};
use domain::realtime::{Event, Room};

use super::connection::SocketConnection;
use super::dispatch::Emission;
use super::presence::OrganizationUser;
use super::typing::MINUTES;
use super::{RealtimeServer, payload};
use api_types::event::BoardActivity;
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
        let room = Room::Staff(group.class.clone());
        if self.count(&room) == 0 {
            return;
        }
        let (writing, activity) = self.group_activity(&group.organization, &group.id, &group.members);
        let online: Vec<&UserId> = group
            .members
            .iter()
            .filter(|member| self.is_online(&group.organization, member))
            .collect();
        let rest = BoardActivity {
            group_id: group.id.clone(),
            online: online.into_iter().cloned().collect(),
            writing,
            activity: activity.to_vec(),
        };
        let (organization, class) = (group.organization.clone(), group.class.clone());
        let payload = payload(Event::BoardActivity, Some(organization), Some(class), &rest);
        self.emit(Emission {
            organization: Some(group.organization.clone()),
            rooms: vec![room],
            except: Vec::new(),
            event: Event::BoardActivity,
            payload,
        })
        .await;
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
