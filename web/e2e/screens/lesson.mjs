// A lesson: the teacher's board, the work room of a group, a document in its editor.
const roomOf = async (harness) => {
  const group = await harness.group("Rivers", "ana");
  return { group, room: await (await harness.api("ana")).get(`/workrooms/${group.workRoomId}`) };
};

export default [
  { name: "Today", who: "ada", path: "/today" },
  {
    name: "The lesson board",
    who: "ada",
    path: async (harness) => `/topics/${(await harness.topic("Landforms")).id}/board`,
    ready: "[data-card]",
  },
  { name: "My groups", who: "ana", path: "/groups" },
  {
    name: "The work room",
    who: "ana",
    path: async (harness) => `/groups/${(await roomOf(harness)).group.id}`,
    ready: "[data-part]",
  },
  {
    name: "A document in its editor",
    who: "ana",
    path: async (harness) => {
      const { group, room } = await roomOf(harness);
      return `/groups/${group.id}/documents/${room.documents[0].id}`;
    },
    ready: "iframe",
  },
];
