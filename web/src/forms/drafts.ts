// Unsent texts, stored in this browser until they are sent. Keys contain the user id, and signing out deletes all drafts,
// because school computers are shared.
const PREFIX = "draft:";

export function getDraft(person: string, of: string): string {
  return localStorage.getItem(`${PREFIX}${person}:${of}`) ?? "";
}

export function saveDraft(person: string, of: string, text: string): void {
  const key = `${PREFIX}${person}:${of}`;
  if (text === "") localStorage.removeItem(key);
  else localStorage.setItem(key, text);
}

export function deleteDrafts(): void {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(PREFIX)) localStorage.removeItem(key);
  }
}
