import { client, unwrap } from "../../api/client";
import type { BoardGroup } from "./board";

export interface FailedDelivery {
  card: BoardGroup;
  problem: unknown;
}

/**
 * Sends a message to the chat of each group and returns the failed deliveries. The service accepts one message per room and
 * client id, so resending to all groups is safe.
 */
export async function sendToGroups(
  cards: readonly BoardGroup[],
  content: string,
  number: string,
): Promise<FailedDelivery[]> {
  const tries = cards.map(async (card) => {
    await client.POST("/workrooms/{id}/messages", {
      params: { path: { id: card.group.workRoomId } },
      body: { content, clientMessageId: number },
    });
  });
  const results = await Promise.allSettled(tries);
  return results.flatMap((result, index) => {
    const card = cards[index];
    return result.status === "rejected" && card ? [{ card, problem: result.reason as unknown }] : [];
  });
}

/** Sends a message to the groups that have not submitted and returns their number. */
export async function remindGroups(id: string, content: string, number: string): Promise<number> {
  const body = { content, clientMessageId: number };
  const { groupIds } = await unwrap(client.POST("/assignments/{id}/remind", { params: { path: { id } }, body }));
  return groupIds.length;
}
