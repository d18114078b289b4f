// A signed-in user: a cookie jar, and the official better-auth client and plain requests that share it.
import { createAuthClient } from 'better-auth/client';
import { adminClient, organizationClient, twoFactorClient } from 'better-auth/client/plugins';
import { Api, assert } from './api.mjs';

/** The cookies of one browser for one host: name, value, attributes and expiry. */
export class CookieJar {
  cookies = new Map();

  store(response) {
    for (const line of response.headers.getSetCookie()) {
      const [pair, ...attributes] = line.split(';').map((part) => part.trim());
      const cut = pair.indexOf('=');
      const [name, value] = [pair.slice(0, cut), pair.slice(cut + 1)];
      const age = attributes.find((attribute) => /^max-age=/i.test(attribute))?.slice(8);
      if (age !== undefined && Number(age) <= 0) this.cookies.delete(name);
      else this.cookies.set(name, { value, attributes, until: age && Date.now() + Number(age) * 1000 });
    }
  }

  get header() {
    return this.#header(() => true);
  }

  /** The cookies of a form that a page of another site sends. */
  get headerOfOtherSite() {
    return this.#header(({ attributes }) => attributes.some((attribute) => /^samesite=none$/i.test(attribute)));
  }

  #header(isSent) {
    const live = [...this.cookies].filter(([, cookie]) => (!cookie.until || cookie.until > Date.now()) && isSent(cookie));
    return live.map(([name, { value }]) => `${name}=${value}`).join('; ');
  }
}

let users = 0;

export class User {
  /** If there are several instances, each new user connects to the next of `baseUrls`. */
  constructor({ baseUrl, baseUrls = [baseUrl], transports, frontendOrigin }, label) {
    this.baseUrl = baseUrls[users++ % baseUrls.length].replace(/\/$/, '');
    this.transports = transports;
    this.origin = frontendOrigin ?? this.baseUrl;
    this.label = label;
    this.jar = new CookieJar();
    this.api = new Api(`${this.baseUrl}/api`, label, this.fetch);
    this.auth = createAuthClient({
      baseURL: this.baseUrl,
      plugins: [
        organizationClient(),
        adminClient(),
        twoFactorClient({ onTwoFactorRedirect: ({ twoFactorMethods }) => void (this.secondStep = twoFactorMethods) }),
      ],
      fetchOptions: { customFetchImpl: this.fetch },
    });
  }

  /** Like `fetch` in a browser: sends the cookies and the origin of the page, and stores new cookies. */
  fetch = async (url, init = {}) => {
    const headers = new Headers(init.headers);
    if (this.jar.header) headers.set('cookie', this.jar.header);
    headers.set('origin', this.origin);
    const response = await fetch(url, { ...init, headers });
    this.jar.store(response);
    return response;
  };

  /** Like a form in a browser that a page of another site sends here. */
  submitFrom = async (origin, url, fields) => {
    const headers = { origin, cookie: this.jar.headerOfOtherSite };
    const response = await fetch(url, { method: 'POST', headers, body: new URLSearchParams(fields), redirect: 'manual' });
    this.jar.store(response);
    return response;
  };

  async signIn({ email, password }) {
    const { data, error } = await this.auth.signIn.email({ email, password });
    assert(!error, `${this.label} cannot sign in as ${email}: ${JSON.stringify(error)}`);
    this.user = data.user;
    return this;
  }

  /** Activates an organization, by default the user's first. No organization is active after sign-in. */
  async selectOrganization(organizationId) {
    const { data: organizations, error } = await this.auth.organization.list();
    assert(!error && organizations.length > 0, `${this.label} is a member of no organization: ${JSON.stringify(error)}`);
    const chosen = organizationId ?? organizations[0].id;
    const active = await this.auth.organization.setActive({ organizationId: chosen });
    assert(!active.error, `${this.label} cannot activate the organization: ${JSON.stringify(active.error)}`);
    assert(active.data.id === chosen, `${this.label} activated ${active.data.id} instead of ${chosen}`);
    this.organizationId = chosen;
    return this;
  }
}
