/** Keeps addresses of links that open pages or mails, and of pictures among the files; removes all others. */
export const safeAddress = (address: string): string =>
  /^(https?:|mailto:|attachment:|#|\/(?!\/))/i.test(address) || !address.includes(":") ? address : "";
