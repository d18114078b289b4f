// All other texts of the pages inside a school.
const files = import.meta.glob<object>(
  [
    "./*.json",
    "!./{acting,board,common,downloads,editor,fields,finish,groups,keys,messages,otherSchool,passkey,projector,refused,rosters,secondFactor,signOn,signOnHelp,today}.json",
  ],
  { eager: true, import: "default" },
);
export default Object.assign({}, ...Object.values(files)) as object;
