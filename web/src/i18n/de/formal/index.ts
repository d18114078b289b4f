// Formal texts ("Sie") of the sign-in pages and the pages of a lesson, for staff of schools that use the formal address. They
// have only the keys whose texts differ.
const files = import.meta.glob<object>(
  "./{acting,board,common,downloads,fields,groups,keys,messages,otherSchool,projector,refused,today}.json",
  { eager: true, import: "default" },
);
export default Object.values(files);
