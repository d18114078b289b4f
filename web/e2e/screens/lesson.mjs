// The lesson itself: the teacher's board, the work room of a group, a document in its editor.
const roomOf = async (stage) => {
  const group = await stage.group("Rivers", "ana");
  return { group, room: await (await stage.api("ana")).get(`/workrooms/${group.workRoomId}`) };
};

export default [
  { name: "Today", who: "ada", path: "/today" },
  { name: "The lesson board", who: "ada", path: async (stage) => `/t/${(await stage.topic("Landforms")).id}/board`, ready: "[data-card]" },
  { name: "My groups", who: "ana", path: "/groups" },
  { name: "The work room", who: "ana", path: async (stage) => `/g/${(await roomOf(stage)).group.id}`, ready: "[data-part]" },
  {
    name: "A document in its editor",
    who: "ana",
    path: async (stage) => {
      const { group, room } = await roomOf(stage);
      return `/g/${group.id}/d/${room.documents[0].id}`;
    },
    ready: "iframe",
  },
];
