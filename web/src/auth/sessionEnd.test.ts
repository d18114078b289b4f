import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import {
  waitForAuthReads,
  fetchWithSession,
  beginSessionSwitch,
  abandonSession,
  resumeSession,
  cancelSessionSwitch,
  watchSession,
} from "./sessionEnd";

let isSignedIn = false;
let stop: () => void;
const sent: string[] = [];

const ask = (path = "/api/groups", body?: string) =>
  fetchWithSession(new Request(`http://school.test${path}`, body === undefined ? {} : { method: "POST", body }));
const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

beforeEach(() => {
  isSignedIn = false;
  sent.length = 0;
  stop = watchSession();
  vi.stubGlobal("fetch", async (request: Request) => {
    sent.push(`${new URL(request.url).pathname} ${await request.text()}`.trim());
    return new Response(null, { status: isSignedIn ? 200 : 401 });
  });
});
afterEach(() => {
  stop();
  vi.unstubAllGlobals();
});

describe("fetchInSession", () => {
  it("resends a rejected request with its body after the user has signed in", async () => {
    const asked = ask("/api/groups/a/help", "Please help");
    await turn();
    isSignedIn = true;
    resumeSession();
    expect((await asked).status).toBe(200);
    expect(sent).toEqual(["/api/groups/a/help Please help", "/api/groups/a/help Please help"]);
  });

  it("does not ask to sign in while the page switches sessions", async () => {
    void beginSessionSwitch();
    const asked = ask();
    await turn();
    expect(sent).toEqual(["/api/groups"]);
    cancelSessionSwitch();
    expect((await asked).status).toBe(401);
  });

  it("returns the rejection when the user does not sign in", async () => {
    const asked = ask();
    await turn();
    abandonSession();
    expect((await asked).status).toBe(401);
    expect(sent).toHaveLength(1);
  });

  it("does not ask to sign in for a rejection of an earlier session", async () => {
    let release: (response: Response) => void = () => {};
    vi.stubGlobal("fetch", () => new Promise<Response>((resolve) => (release = resolve)));
    const slow = ask();
    const other = ask("/api/classes");
    resumeSession();
    vi.stubGlobal("fetch", async () => new Response(null, { status: 200 }));
    release(new Response(null, { status: 401 }));
    expect((await other).status).toBe(200);
    void slow;
  });

  it("sends no read of /api/auth/ while the session has ended", async () => {
    const rejected = ask();
    await turn();
    const read = ask("/api/auth/get-session");
    await turn();
    expect(sent).toEqual(["/api/groups"]);
    isSignedIn = true;
    resumeSession();
    expect((await read).status).toBe(200);
    expect((await rejected).status).toBe(200);
  });

  it("waits for reads of /api/auth/ in flight before a sign-in", async () => {
    let release: (response: Response) => void = () => {};
    vi.stubGlobal("fetch", () => new Promise<Response>((resolve) => (release = resolve)));
    void ask("/api/auth/get-session");
    let isSettled = false;
    const settled = waitForAuthReads().then(() => (isSettled = true));
    await turn();
    expect(isSettled).toBe(false);
    release(new Response(null, { status: 200 }));
    await settled;
  });

  it("waits for reads of /api/auth/ in flight before the session is switched", async () => {
    let release: (response: Response) => void = () => {};
    vi.stubGlobal("fetch", () => new Promise<Response>((resolve) => (release = resolve)));
    void ask("/api/auth/get-session");
    let isReady = false;
    const ready = beginSessionSwitch().then(() => (isReady = true));
    await turn();
    expect(isReady).toBe(false);
    release(new Response(null, { status: 200 }));
    await ready;
    cancelSessionSwitch();
  });

  it("sends no read of /api/auth/ while the session is switched", async () => {
    void beginSessionSwitch();
    const read = ask("/api/auth/get-session");
    await turn();
    expect(sent).toEqual([]);
    isSignedIn = true;
    cancelSessionSwitch();
    expect((await read).status).toBe(200);
  });

  it("leaves sign-in alone, and pages outside a school", async () => {
    expect((await ask("/api/auth/sign-in/email", "x")).status).toBe(401);
    stop();
    expect((await ask()).status).toBe(401);
    stop = watchSession();
  });
});
