// What the places of a lesson say (`IN_LESSON`); what the door says comes with the page itself, the rest with office.ts.
const files = import.meta.glob<object>("./{acting,board,downloads,fields,groups,keys,messages,otherSchool,projector,refused,today}.json", { eager: true, import: "default" });
export default Object.assign({}, ...Object.values(files)) as object;
