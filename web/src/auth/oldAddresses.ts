/** Replaces an address of earlier versions, as in bookmarks and messages: `/g/…` and `/t/…`. Leaves others unchanged. */
export const currentAddress = (address: string): string =>
  address
    .replace(/^\/t(?=\/)/, "/topics")
    .replace(
      /^\/g(\/[^/?#]+)(\/d(?=\/))?/,
      (_, group: string, document?: string) => `/groups${group}${document === undefined ? "" : "/documents"}`,
    );
