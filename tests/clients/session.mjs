// A signed-in user: a cookie jar, the official better-auth client with it, and plain requests with the same cookies.
import { createAuthClient } from 'better-auth/client';
import { adminClient, organizationClient } from 'better-auth/client/plugins';
import { Api, must } from './api.mjs';

/** The cookies of a browser for one host: name, value and expiry. */
export class Jar {
  cookies = new Map();

  take(response) {
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
    const live = [...this.cookies].filter(([, { until }]) => !until || until > Date.now());
    return live.map(([name, { value }]) => `${name}=${value}`).join('; ');
  }
}

let people = 0;

export class Person {
  /** With several instances, `baseUrls` assigns each further user to the next instance. */
  constructor({ baseUrl, baseUrls = [baseUrl], transports, frontendOrigin }, who) {
    this.baseUrl = baseUrls[people++ % baseUrls.length].replace(/\/$/, '');
    this.transports = transports;
    this.origin = frontendOrigin ?? this.baseUrl;
    this.who = who;
    this.jar = new Jar();
    this.api = new Api(`${this.baseUrl}/api`, who, this.fetch);
    this.auth = createAuthClient({
      baseURL: this.baseUrl,
      plugins: [organizationClient(), adminClient()],
      fetchOptions: { customFetchImpl: this.fetch },
    });
  }

  /** Does what a browser does around fetch: sends the cookies and the page's origin, stores the received cookies. */
  fetch = async (url, init = {}) => {
    const headers = new Headers(init.headers);
    if (this.jar.header) headers.set('cookie', this.jar.header);
    headers.set('origin', this.origin);
    const response = await fetch(url, { ...init, headers });
    this.jar.take(response);
    return response;
  };

  async signIn({ email, password }) {
    const { data, error } = await this.auth.signIn.email({ email, password });
    must(!error, `${this.who} cannot sign in as ${email}: ${JSON.stringify(error)}`);
    this.user = data.user;
    return this;
  }

  /** Selects the only organization, or the given one: after sign-in a session belongs to none. */
  async enter(organizationId) {
    const { data: organizations, error } = await this.auth.organization.list();
    must(!error && organizations.length > 0, `${this.who} is a member of no organization: ${JSON.stringify(error)}`);
    const chosen = organizationId ?? organizations[0].id;
    const active = await this.auth.organization.setActive({ organizationId: chosen });
    must(!active.error, `${this.who} cannot enter the organization: ${JSON.stringify(active.error)}`);
    must(active.data.id === chosen, `${this.who} entered ${active.data.id} instead of ${chosen}`);
    this.organizationId = chosen;
    return this;
  }
}
