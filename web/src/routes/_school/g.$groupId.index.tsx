import { useQuery } from "@tanstack/react-query";
import { createFileRoute } from "@tanstack/react-router";
import { useState } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { isStaff } from "../../lib/session";
import { Chat } from "../../room/Chat";
import { Documents } from "../../room/Documents";
import { Help } from "../../room/Help";
import { inTime, room, type WorkRoom } from "../../room/room";
import { Task } from "../../room/Task";
import { Heading } from "../../ui/Heading";
import { Problems } from "../../ui/Problems";
import { Shape } from "../../ui/Shape";
import { Sheet } from "../../ui/Sheet";

export const Route = createFileRoute("/_school/g/$groupId/")({ component: Room });

/** S11: the work room. Task, documents and chat stand side by side where there is room. */
function Room() {
  const { groupId } = Route.useParams();
  const found = useQuery(room(groupId));
  if (found.isPending) return <Shape />;
  if (!found.data) return <Problems problem={found.error} again={() => void found.refetch()} />;
  return <Work found={found.data} />;
}

function Work({ found }: { found: WorkRoom }) {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const topics = inTime(found.groupAssignments);
  const [chosen, setChosen] = useState<string>();
  const topic = topics.find((one) => one.assignmentId === chosen) ?? topics[0];
  const name = found.group.displayName ?? found.group.name;
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Heading title={name}>{name}</Heading>
        <span className="text-soft">{found.members.map((member) => member.user.name).join(", ")}</span>
        <span className="ms-auto" />
        {isStaff(person) ? null : <Help groupId={found.groupId} />}
      </div>
      {topic === undefined ? <p>{t("room.none")}</p> : null}
      <div className="grid items-start gap-4 lg:grid-cols-[2fr_1fr]">
        <div className="flex flex-col gap-4">
          {topics.length > 1 && topic ? (
            <Tabs selectedKey={topic.assignmentId} onSelectionChange={(key) => setChosen(String(key))}>
              <TabList aria-label={t("room.topics")} className="flex flex-wrap gap-2">
                {topics.map((one) => (
                  <Tab key={one.assignmentId} id={one.assignmentId} className="selected:border-accent border-faint min-h-11 cursor-pointer rounded-lg border-2 px-3 py-2">
                    {one.assignment.title}
                  </Tab>
                ))}
              </TabList>
              <TabPanel id={topic.assignmentId} className="pt-3">
                <Sheet>
                  <Task topic={topic} />
                </Sheet>
              </TabPanel>
            </Tabs>
          ) : topic ? (
            <Sheet>
              <Task topic={topic} />
            </Sheet>
          ) : null}
          <Sheet className="flex flex-col gap-3">
            <h2>{t("room.documents")}</h2>
            <Documents found={found} topic={topic} />
          </Sheet>
        </div>
        <Sheet className="flex flex-col gap-3">
          <h2>{t("chat.title")}</h2>
          <Chat workRoomId={found.id} own={person.id} canWrite />
        </Sheet>
      </div>
    </div>
  );
}
