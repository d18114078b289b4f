// Everything the pages inside a school say; what the door says comes with the page itself.
const files = import.meta.glob<object>(["./*.json", "!./door.json"], { eager: true, import: "default" });
export default Object.assign({}, ...Object.values(files)) as object;
