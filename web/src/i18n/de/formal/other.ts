// All other formal texts.
const files = import.meta.glob<object>(
  [
    "./*.json",
    "!./{acting,board,common,downloads,fields,groups,keys,messages,otherSchool,projector,refused,today}.json",
  ],
  { eager: true, import: "default" },
);
export default Object.values(files);
