/** The scheme of a picture among the files of the topic: `attachment:map.png`. */
export const ATTACHMENT = "attachment:";

/** The file name that an address of a picture names; undefined for other addresses, which are never loaded. */
export function pictureFile(address: string | undefined): string | undefined {
  if (address?.startsWith(ATTACHMENT) !== true) return undefined;
  try {
    return decodeURIComponent(address.slice(ATTACHMENT.length));
  } catch {
    return undefined;
  }
}
