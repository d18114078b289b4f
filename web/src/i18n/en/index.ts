// Texts of the pages of a lesson (`LESSON_PAGES`). Texts of the sign-in pages are loaded with the page itself, all others by
// other.ts.
const files = import.meta.glob<object>(
  "./{acting,board,downloads,fields,groups,keys,messages,otherSchool,projector,refused,today}.json",
  { eager: true, import: "default" },
);
export default Object.assign({}, ...Object.values(files)) as object;
